"""Addresses as settings name them, checked before anything is opened or called at them.

Each function returns its text unchanged and raises ValueError saying what is wrong with it.
"""

import re
from typing import Annotated

from pydantic import AfterValidator

PORT_MAX = 65_535

_HOST_PORT = re.compile(r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})")
_RESOLVERS = re.compile(r"(dns:(///)?|ipv4:|ipv6:)")
_DATABASE = re.compile(r"postgresql\+asyncpg://[^/\s]*/[^/\s?]+(\?\S*)?")
_ORIGIN = re.compile(r"https?://(?P<host>[a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")


def host_port(text: str) -> str:
    """``host:port``; port 0 is for listening alone, and means any free one."""
    found = _HOST_PORT.fullmatch(text)
    if found is None:
        raise ValueError("must be host:port")
    if int(found["port"]) > PORT_MAX:
        raise ValueError(f"the port must be 0 to {PORT_MAX}")
    return text


def host_port_or_nothing(text: str) -> str:
    """``host:port``, or empty."""
    return host_port(text) if text else text


def rpc_listener(text: str) -> str:
    """Where gRPC listens: ``host:port`` or ``unix:/path``."""
    return text if re.fullmatch(r"unix:/.+", text) else host_port(text)


def rpc_target(text: str) -> str:
    """Whom gRPC calls: ``dns:///host:port``, ``ipv4:host:port,host:port``, ``host:port`` or ``unix:/path``."""
    if re.fullmatch(r"unix:/.+", text):
        return text
    resolver = _RESOLVERS.match(text)
    for each in text[resolver.end() if resolver else 0 :].split(","):
        host_port(each)
    return text


def rpc_target_or_nothing(text: str) -> str:
    """As `rpc_target`, or empty."""
    return rpc_target(text) if text else text


def brokers(text: str) -> str:
    """``host:port,host:port``, or empty."""
    for each in text.split(",") if text else ():
        host_port(each)
    return text


def collector(text: str) -> str:
    """``host:port``, the same as a URL, or empty."""
    if text:
        host_port(re.sub(r"^https?://", "", text))
    return text


def database(text: str) -> str:
    """A PostgreSQL URL that names its database."""
    if _DATABASE.fullmatch(text) is None:
        raise ValueError("must be postgresql+asyncpg://user:password@host:port/database")
    return text


def origin(text: str) -> str:
    """A page's Origin as a browser sends it: lower case, without a path (RFC 6454)."""
    if _ORIGIN.fullmatch(text) is None:
        raise ValueError("must be http://host:port or https://host, without a path")
    return text


HostPort = Annotated[str, AfterValidator(host_port)]
HostPortOrNothing = Annotated[str, AfterValidator(host_port_or_nothing)]
RpcListener = Annotated[str, AfterValidator(rpc_listener)]
RpcTarget = Annotated[str, AfterValidator(rpc_target)]
RpcTargetOrNothing = Annotated[str, AfterValidator(rpc_target_or_nothing)]
Brokers = Annotated[str, AfterValidator(brokers)]
Collector = Annotated[str, AfterValidator(collector)]
DatabaseUrl = Annotated[str, AfterValidator(database)]
Origin = Annotated[str, AfterValidator(origin)]
