"""E-mail and network addresses, reduced to what identifies their owner."""

from ipaddress import IPv6Address, ip_address

from email_validator import EmailNotValidError, validate_email

from services.auth.domain.errors import EmailInvalid, NetworkInvalid

EMAIL_MAX = 254  # RFC 5321; longer ones are not even parsed
IPV4_BITS = 24
IPV6_BITS = 64  # what one customer is given, of which every address is theirs
LOCALES = ("en", "ro", "zh")


def email_of(text: str) -> str:
    """The one spelling of an address: ASCII domain, lower case. Nothing is looked up.

    Raises EmailInvalid, without the address in it.
    """
    if len(text) > EMAIL_MAX:
        raise EmailInvalid
    try:
        found = validate_email(text, check_deliverability=False, allow_smtputf8=False, strict=True)
    except EmailNotValidError:
        raise EmailInvalid from None
    if found.ascii_email is None:
        raise EmailInvalid
    return found.ascii_email.casefold()


def mailbox_of(email: str) -> str:
    """Whose inbox an address of `email_of` fills: without the tag that follows a plus (RFC 5233).

    Where a mail system has no tags these are different people, who then share the limit of what is sent to them.
    """
    local, _, domain = email.partition("@")
    return f"{local.partition('+')[0]}@{domain}"


def network_of(text: str) -> bytes:
    """The network an address is counted under: the /24 of IPv4, the /64 of IPv6. Raises NetworkInvalid."""
    try:
        address = ip_address(text)
    except ValueError:
        raise NetworkInvalid from None
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is None:
            return b"6" + address.packed[: IPV6_BITS // 8]
        address = address.ipv4_mapped
    return b"4" + address.packed[: IPV4_BITS // 8]


def locale_of(text: str) -> str:
    """The language of ours nearest to a BCP 47 tag; English for every other."""
    language = text.partition("-")[0].partition("_")[0].lower()
    return language if language in LOCALES else LOCALES[0]
