"""What an account is shown: what it owns, and what moved."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from services.wallet.domain.assets import Amounts, Asset
from services.wallet.domain.ledger import Reason, TableId


@dataclass(frozen=True, slots=True, kw_only=True)
class Belongings:
    """`owned` is what may be spent; `held` lies in open holds and is not in `owned`."""

    owned: Amounts
    held: Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """One posting of an account. `position` orders them, newest highest."""

    position: int
    transfer_id: UUID
    at: datetime
    reason: Reason
    asset: Asset
    amount: int
    table_id: TableId | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Something the ledger's check found: which rule does not hold, where, and the numbers."""

    rule: str
    subject: str
    expected: str
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unproved:
    """How much a rule of the ledger's check can say nothing of, and why."""

    rule: str
    count: int
    why: str
