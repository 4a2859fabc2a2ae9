"""Who the operators are and what each may do: a file of names, roles and SHA-256 of tokens (P82).

One operator a line, `name role sha256`; blank lines and those that begin with # say nothing:

    # the desk
    ana    support    9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
"""

import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

from libs.chassis.settings import WrongSettings

SETTING = "WHIST_OPERATORS_FILE"
OPERATORS_MAX = 200  # each is compared with every token that is shown
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_NO_TOKEN = sha256(b"").hexdigest()


class Power(StrEnum):
    """What a route asks for."""

    LOOK = "look"  # accounts, purses, tables, complaints, the audit log
    SILENCE = "silence"
    CORRECT = "correct"  # balances
    PROVE = "prove"  # the ledger, which takes the database some work
    RULE = "rule"  # suspend, reinstate, void, close, tables for load tests


class Role(StrEnum):
    """What an operator is."""

    SUPPORT = "support"
    TREASURER = "treasurer"
    ADMIN = "admin"


POWERS = {
    Role.SUPPORT: frozenset({Power.LOOK, Power.SILENCE}),
    Role.TREASURER: frozenset({Power.LOOK, Power.CORRECT, Power.PROVE}),
    Role.ADMIN: frozenset(Power),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """Somebody who may act; `digest` is the SHA-256 of the token in hex: the token itself is kept nowhere."""

    name: str
    role: Role
    digest: str

    def may(self, power: Power) -> bool:
        """Whether the role has this power."""
        return power in POWERS[self.role]


class Operators:
    """All of them."""

    def __init__(self, operators: Sequence[Operator]) -> None:
        self._operators = tuple(operators)

    def recognise(self, token: str) -> Operator | None:
        """Whose token it is. Takes as long whoever it is, and whether it is anybody's."""
        digest = sha256(token.encode()).hexdigest()
        found = None
        for operator in self._operators:
            if hmac.compare_digest(operator.digest, digest):
                found = operator
        return found


def read(file: Path | None) -> Operators:
    """The operators of a file. Raises WrongSettings, which names the line and never what stands in it."""
    if file is None:
        raise WrongSettings(f"{SETTING}: needed where WHIST_ADMIN_LISTEN is set")
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise WrongSettings(f"{SETTING}: {file}: {error}") from error
    found: list[Operator] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            found.append(_operator(f"{SETTING}: {file}: line {number}", line.split()))
    if not 1 <= len(found) <= OPERATORS_MAX:
        raise WrongSettings(f"{SETTING}: {file}: 1 to {OPERATORS_MAX} operators, not {len(found)}")
    for what in ("name", "digest"):
        if len({getattr(operator, what) for operator in found}) != len(found):
            raise WrongSettings(f"{SETTING}: {file}: two operators have one {what}")
    return Operators(found)


def _operator(where: str, words: list[str]) -> Operator:
    if len(words) != 3:
        raise WrongSettings(f"{where}: three words: name, role, SHA-256 of the token")
    name, role, digest = words
    if _NAME.fullmatch(name) is None:
        raise WrongSettings(f"{where}: a name has 1 to 64 of a-z, 0-9, dot, dash and underscore")
    if role not in list(Role):
        raise WrongSettings(f"{where}: a role is {', '.join(Role)}")
    if _DIGEST.fullmatch(digest) is None or digest == _NO_TOKEN:
        raise WrongSettings(f"{where}: the SHA-256 of a token has 64 digits of 0-9 and a-f")
    return Operator(name=name, role=Role(role), digest=digest)
