"""Whose limits a request counts against: the real peer, or what our own proxies say of it (reliability N8)."""

import ipaddress
from collections.abc import Sequence

IPV6_PREFIX = 64  # one household; single addresses are free to have there
NEIGHBOURS_BYTES = {4: 3, 6: IPV6_PREFIX // 8}  # of an address of each version: its /24 or its /64


def network_of(peer: str, forwarded: Sequence[str], trusted_proxies: int) -> str:
    """The client's IPv4 address, or the first address of its IPv6 /64.

    `forwarded` are the values of X-Forwarded-For; of its entries only the last `trusted_proxies` were written by our
    own proxies, so the client is the first of these. A header that has too few entries is not believed.
    """
    host = peer
    if trusted_proxies:
        entries = [entry.strip() for line in forwarded for entry in line.split(",")]
        if len(entries) >= trusted_proxies:
            host = entries[-trusted_proxies]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return peer
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        # An address again, not "…/64": auth, too, takes the network of an address.
        return str(ipaddress.ip_network((address, IPV6_PREFIX), strict=False).network_address)
    return str(address)


def neighbours_of(network: str) -> bytes:
    """What matchmaking tells linked players by (X12): the first bytes of a public address, its /24 or /64.

    Empty for what no stranger has: a private or local address, which is a proxy's or a house's own.
    """
    try:
        address = ipaddress.ip_address(network)
    except ValueError:
        return b""
    return address.packed[: NEIGHBOURS_BYTES[address.version]] if address.is_global else b""
