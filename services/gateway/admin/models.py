"""What operators send and see."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from google.protobuf.timestamp_pb2 import Timestamp
from pydantic import BaseModel, Field

from services.gateway.http.models import Id, Request
from services.gateway.http.models.wallet import Assets, CoffeeName
from whist.auth.v1 import auth_pb2
from whist.tables.v1 import tables_pb2
from whist.types.v1 import types_pb2

AMOUNT_MAX = 10**12  # the platform's own bound of an amount
SILENCE_MINUTES_MAX = 525_600  # a year
Amount = Annotated[int, Field(ge=-AMOUNT_MAX, le=AMOUNT_MAX)]
Service = Literal["auth", "tables", "wallet"]

KINDS = {
    tables_pb2.TABLE_KIND_QUICK: "quick",
    tables_pb2.TABLE_KIND_BENCH: "bench",
    tables_pb2.TABLE_KIND_FRIENDS: "friends",
}
STATUSES = {
    tables_pb2.TABLE_STATUS_WAITING: "waiting",
    tables_pb2.TABLE_STATUS_LIVE: "live",
    tables_pb2.TABLE_STATUS_FINISHED: "finished",
    tables_pb2.TABLE_STATUS_VOIDED: "voided",
}


def moment(at: Timestamp) -> datetime:
    return at.ToDatetime(UTC)


class Why(Request):
    """Every act says why; it stands in the audit log for ever, so no address and no secret belongs there."""

    reason: str = Field(min_length=1, max_length=500)


class Search(Why):
    """An account's id, its name, or its address; who looked and why is written down."""

    words: str = Field(min_length=1, max_length=320)


class SilenceFor(Why):
    """For how long nobody hears the account's chat; 0 lets it be heard again."""

    minutes: int = Field(ge=0, le=SILENCE_MINUTES_MAX)


class Correction(Why):
    """What the account gains, or with a minus loses; each 0 unless it is given."""

    coins: Amount = 0
    bars: Amount = 0
    cups: dict[CoffeeName, Amount] = Field(default_factory=dict)

    def assets(self) -> types_pb2.Assets:
        """As the wallet takes it."""
        return types_pb2.Assets(
            coins=self.coins,
            bars=self.bars,
            cups_x1_5=self.cups.get("x1.5", 0),
            cups_x2=self.cups.get("x2", 0),
            cups_x3=self.cups.get("x3", 0),
            cups_x5=self.cups.get("x5", 0),
        )


class Done(BaseModel):
    """The act stands."""

    done: Literal[True] = True


class Account(BaseModel):
    """An account as operators see it; a deleted one has neither name nor address any more."""

    account: Id
    name: str
    email: str | None
    guest: bool
    named: bool
    suspended: bool
    deleted: bool
    sessions: int
    created_at: datetime
    seen_at: datetime | None

    @classmethod
    def of(cls, found: auth_pb2.FoundAccount) -> Self:
        account = found.account
        return cls(
            account=account.account_id.hex(),
            name=account.name,
            email=found.email or None,
            guest=account.guest,
            named=account.named,
            suspended=account.suspended,
            deleted=found.deleted,
            sessions=found.sessions,
            created_at=moment(account.created_at),
            seen_at=moment(found.seen_at) if found.HasField("seen_at") else None,
        )


class Accounts(BaseModel):
    """At most twenty."""

    accounts: list[Account]


class Silenced(BaseModel):
    """Until when; null: it is heard."""

    until: datetime | None


class Corrected(BaseModel):
    """What the account owns now."""

    assets: Assets


class Table(BaseModel):
    """A table as it stands, and never a card. `rows` is how long its journal is."""

    table: Id
    kind: Literal["quick", "bench", "friends"]
    game: str
    status: Literal["waiting", "live", "finished", "voided"]
    had_finished: bool = Field(description="Voided after it had finished.")
    worker: str | None = Field(description="Who owns it; null where nobody does.")
    epoch: int
    rows: int
    accounts: list[Id]
    created_at: datetime
    ended_at: datetime | None

    @classmethod
    def of(cls, seen: tables_pb2.TableSeen) -> Self:
        return cls.model_validate(
            {
                "table": seen.table_id.hex(),
                "kind": KINDS.get(seen.kind, "bench"),
                "game": seen.game,
                "status": STATUSES[seen.status],
                "had_finished": seen.had_finished,
                "worker": seen.worker_address or None,
                "epoch": seen.epoch,
                "rows": seen.rows,
                "accounts": [account.hex() for account in seen.account_ids],
                "created_at": moment(seen.created_at),
                "ended_at": moment(seen.ended_at) if seen.HasField("ended_at") else None,
            }
        )


class Tables(BaseModel):
    """Newest first."""

    tables: list[Table]


class Voided(BaseModel):
    """Everything goes back; of a game that had finished also what it won."""

    had_finished: bool


class Said(BaseModel):
    """One line of chat."""

    line: int
    at: datetime
    words: str


class Report(BaseModel):
    """One complaint, with what the other had said last at that table, oldest first."""

    number: int
    table: Id
    reporter: Id
    reported: Id
    words: str
    at: datetime
    lines: list[Said]

    @classmethod
    def of(cls, report: tables_pb2.ChatReport) -> Self:
        return cls(
            number=report.n,
            table=report.table_id.hex(),
            reporter=report.reporter.hex(),
            reported=report.reported.hex(),
            words=report.words,
            at=moment(report.at),
            lines=[Said(line=each.line, at=moment(each.at), words=each.words) for each in report.lines],
        )


class Reports(BaseModel):
    """Newest first; `next_before` leads to older ones and is null at the end."""

    reports: list[Report]
    next_before: int | None


class AuditLine(BaseModel):
    """Who did what to whom, when and why."""

    service: Service
    number: int
    at: datetime
    operator: str
    act: str
    subject: str
    reason: str
    details: dict[str, Any]
    request: Id


class Audit(BaseModel):
    """Newest first, of all services; `next_before` leads to older ones and is null at the end."""

    lines: list[AuditLine]
    next_before: str | None


class Difference(BaseModel):
    """What of the ledger does not add up, by its rule."""

    rule: str
    subject: str
    expected: str
    found: str


class Unproved(BaseModel):
    """How much a rule says nothing of, since it is older than the rule needs."""

    rule: str
    count: int
    why: str


class LedgerCheck(BaseModel):
    """Whether everything adds up, what does not, and what is not proved."""

    ok: bool
    differences: list[Difference]
    unproved: list[Unproved]


class BenchTables(Request):
    """How many tables, and how long their games."""

    rounds: int = Field(ge=1, le=100_000)
    count: int = Field(ge=1, le=2_000)


class BenchTable(BaseModel):
    """A table and the access tokens of its four guests."""

    table: str
    tokens: list[str]


class BenchTablesMade(BaseModel):
    """In no particular order."""

    tables: list[BenchTable]
