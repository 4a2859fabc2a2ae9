"""Use cases of tables off the hot path: open, find, look, abandon, finish, void."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID
from zoneinfo import ZoneInfo

from msgspec import MsgspecError
from msgspec.structs import replace

from libs.chassis.db.database import Store
from libs.chassis.entropy import Entropy
from libs.chassis.errors import DomainError
from libs.engine import fair
from libs.engine.record.flaws import BadRecord
from libs.engine.record.plain import dumps
from libs.house import calendar
from services.tables import announcements
from services.tables.domain.entries import FriendsTable, Opened, SeatFacts, TakenOver, decode_body, encode_body
from services.tables.domain.errors import (
    AlreadySeated,
    BadOptions,
    GameRunning,
    NotAtTable,
    TableAbandoned,
    TableFinished,
    TableUnknown,
    TableUnowned,
)
from services.tables.domain.outcome import called_off, record
from services.tables.domain.table import BrokenJournal, Table, decide_draws, draw_id, filled, fold, opened, seated
from services.tables.faults import note
from services.tables.metrics import games_finished, games_voided
from services.tables.ports import Head, Row, Standing
from services.tables.storage.seats import Sitting
from services.tables.storage.store import TablesTransaction

SEATS_MIN, SEATS_MAX = 2, 7
PLAYED_OUT, VOIDED, ABANDONED, LIVE = "finished", "voided", "abandoned", "live"
QUICK = 1
BENCH = 2  # the load harness seats its accounts at many tables
KIND_WORDS = {QUICK: "quick", BENCH: "bench", 3: "friends"}
# Short Romanian names; a bot is always marked as one as well (P63).
BOT_NAMES = ("Ana", "Barbu", "Corina", "Dinu", "Elena", "Florin", "Gina")

TablesStore = Store[TablesTransaction]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTable:
    """What CreateTable asks for, checked."""

    table_id: UUID
    kind: int
    mode: int
    game: str
    options: dict[str, object]
    players: Sequence[SeatFacts]
    seats: int
    # A friends' table: what was chosen, and who sits where (None: a bot). Elsewhere the secret draws the seats.
    friends: FriendsTable | None = None
    chairs: Sequence[SeatFacts | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Which worker of which incarnation opens a table."""

    worker_id: str
    incarnation: UUID
    address: str


async def open_table(
    command: OpenTable, *, store: TablesStore, entropy: Entropy, owner: Owner
) -> tuple[Table, date] | Head:
    """Open and deal a table in one transaction with `GameStarted`. Idempotent by table_id.

    Returns the dealt table and its day of birth; or, when it exists already, its head. Raises BadOptions (players,
    options), TableAbandoned (a tombstone stands), AlreadySeated (its `accounts` play or wait elsewhere).
    """
    birth = prepare(command, entropy)
    async with store.transaction() as tx:
        born = await give_birth(birth, owner, tx)
        if born is None:
            head = await tx.head(command.table_id)
            assert head is not None, "the conflict was with a row"
            if head.status == ABANDONED:
                raise TableAbandoned
            return head
    return birth.table, born


@dataclass(frozen=True, slots=True, kw_only=True)
class Birth:
    """A table with its first deal, not yet written: its first rows as (command id, body)."""

    table: Table
    rows: Sequence[tuple[UUID, bytes]]


def prepare(command: OpenTable, entropy: Entropy) -> Birth:
    """Draw the secret, seat everybody and deal. Raises BadOptions (players, options)."""
    if not SEATS_MIN <= command.seats <= SEATS_MAX or not 1 <= len(command.players) <= command.seats:
        raise BadOptions(seats=command.seats, players=len(command.players))
    accounts = {player.account for player in command.players}
    if len(accounts) != len(command.players):
        raise BadOptions(players="one account twice")
    secret = entropy.bytes(fair.SECRET_BYTES)
    seats = (
        seated(command.players, command.seats, secret, BOT_NAMES)
        if command.chairs is None
        else filled(command.chairs, BOT_NAMES)
    )
    body = Opened(
        kind=command.kind,
        mode=command.mode,
        game=command.game,
        rules_version=0,
        options=command.options,
        seats=seats,
        secret=secret,
        friends=command.friends,
    )
    table = opened(command.table_id, body)
    table.opened = body = replace(body, rules_version=table.game.rules_version)
    drawn = decide_draws(table)
    assert drawn is not None, "a new game begins with a draw"
    deal, _, _ = drawn
    table.apply(deal)
    return Birth(
        table=table,
        rows=[
            (draw_id(command.table_id, 0), encode_body(body)),
            (draw_id(command.table_id, 1), encode_body(deal)),
        ],
    )


async def give_birth(birth: Birth, owner: Owner, tx: TablesTransaction) -> date | None:
    """Write head, first rows, who sits there, and `GameStarted`. Returns the day of birth; None: the id is taken.

    Raises AlreadySeated: nothing may be committed then.
    """
    table = birth.table
    born = await tx.open(
        table.table_id,
        kind=table.opened.kind,
        rules_version=table.opened.rules_version,
        owner=owner.worker_id,
        incarnation=owner.incarnation,
        bodies=birth.rows,
    )
    if born is not None:
        if table.opened.kind != BENCH:
            elsewhere = await tx.claim_seats(
                table.table_id, [seat.account for seat in table.opened.seats if seat.account]
            )
            if elsewhere:
                raise AlreadySeated(accounts=[account.hex() for account in sorted(elsewhere)])
        key = table.table_id.bytes
        await tx.publish(announcements.TOPIC, key, announcements.game_started(key, table.opened))
    return born


async def seat_of(account: bytes, *, store: TablesStore) -> Sitting | None:
    """Where the account sits, waiting or playing; None: nowhere."""
    async with store.transaction() as tx:
        return await tx.seat_of(account)


async def require_no_other_seat(account: bytes, table_id: UUID, *, store: TablesStore) -> None:
    """Raises AlreadySeated: the account sits at another table than this one."""
    sitting = await seat_of(account, store=store)
    if sitting is not None and sitting.table_id != table_id:
        raise AlreadySeated(table=sitting.table_id.hex)


async def abandon(table_id: UUID, *, store: TablesStore) -> bool:
    """True: no deal will ever happen under this id. False: it was dealt. Idempotent and final."""
    async with store.transaction() as tx:
        await tx.bury(table_id)
        head = await tx.head(table_id)
        assert head is not None, "buried or dealt"
        return head.status == ABANDONED


async def locate(table_id: UUID, *, store: TablesStore) -> Head:
    """The head of a live table with its owner's address.

    Raises TableUnknown, TableFinished (finished, voided or abandoned), TableUnowned (soon to be taken over).
    """
    place = (await locate_all([table_id], store=store))[table_id]
    if isinstance(place, DomainError):
        raise place
    return place


async def locate_all(tables: Collection[UUID], *, store: TablesStore) -> dict[UUID, Head | DomainError]:
    """For each of these tables what `locate` returns, or what it would raise."""
    async with store.transaction() as tx:
        heads = {head.table_id: head for head in await tx.heads(tables)}
    return {table_id: _place(heads.get(table_id)) for table_id in tables}


def _place(head: Head | None) -> Head | DomainError:
    if head is None:
        return TableUnknown()
    if head.status != LIVE:
        return TableFinished(status=head.status)
    return head if head.owner_address is not None else TableUnowned()


async def load(table_id: UUID, *, store: TablesStore) -> tuple[Head, Table]:
    """Fold a table from its last checkpoint; of a voided one, whose rows may be what voided it, the opening alone.

    Raises TableUnknown; whatever a broken journal makes the fold raise.
    """
    async with store.transaction() as tx:
        head = await tx.head(table_id)
        if head is None or head.status == ABANDONED:
            raise TableUnknown
        since = head.next_seq if head.status == VOIDED else head.checkpoint_seq
        rows = await tx.rows(table_id, head.born, since)
    first = rows[0].body
    assert isinstance(first, Opened), "row 0 opens"
    return head, fold(table_id, first, ((row.seq, row.body) for row in rows[1:]))


async def standings(tables: Sequence[UUID], *, store: TablesStore) -> list[Standing]:
    """What the folds of the live ones among these tables need, in one transaction."""
    async with store.transaction() as tx:
        return await tx.standings(tables)


def folded(standing: Standing) -> Table:
    """The table from its last checkpoint. Raises whatever a broken journal makes the fold raise."""
    (_, opening), *later = standing.rows
    first = decode_body(opening)
    if not isinstance(first, Opened):
        raise BrokenJournal(0)
    return fold(standing.head.table_id, first, ((seq, decode_body(body)) for seq, body in later))


async def status_of(table_id: UUID, *, store: TablesStore) -> str:
    """How far the table has come, for whoever sits nowhere. Raises TableUnknown."""
    async with store.transaction() as tx:
        head = await tx.head(table_id)
    if head is None:
        raise TableUnknown
    return head.status


async def fetch_record(table_id: UUID, account: bytes, *, store: TablesStore) -> str:
    """The record JSON of a finished or voided game, for those who played it (P72).

    Raises TableUnknown, GameRunning, NotAtTable.
    """
    async with store.transaction() as tx:
        # The head first: a game that ends between two looks is then still running, never unknown.
        head = await tx.head(table_id)
        found = await tx.record(table_id)
        if found is None:
            if head is not None and head.status == LIVE:
                raise GameRunning
            raise TableUnknown
    accounts, plain = found
    if account not in accounts:
        raise NotAtTable
    return plain.decode()


async def finish(table: Table, *, epoch: int, born: date, store: TablesStore, zone: ZoneInfo) -> bool:
    """Close a game that is over: record, `GameFinished` and status in one transaction.

    A record that does not play again (P70) is our fault and costs nobody a prize: the game ends without one.
    Idempotent: False when it is closed already or another worker's. Week and day come from the database's clock, as
    they are counted in `zone`.
    """
    async with store.transaction() as tx:
        if not await tx.end(table.table_id, epoch, PLAYED_OUT):
            return False
        await tx.share_weeks()
        now = await tx.now()
        rows = await tx.rows(table.table_id, born)
        week_id, day_id = calendar.week_id(now, zone=zone), calendar.day_id(now, zone=zone)
        if table.opened.kind == QUICK:
            await tx.note_finished(table.table_id, week_id)
        kept = ""
        try:
            kept = dumps(record(table.table_id, table.opened, [(row.body, row.at) for row in rows], now))
        except BadRecord as error:
            note("record_failed", error, table=table.table_id.hex)
        else:
            await tx.keep_record(table.table_id, now, week_id, _accounts(table.opened, rows), kept.encode())
        await tx.publish(
            announcements.TOPIC,
            table.table_id.bytes,
            announcements.game_finished(table, kept, started_at=rows[0].at, week_id=week_id, day_id=day_id),
        )
    games_finished.labels(KIND_WORDS.get(table.opened.kind, "other")).inc()
    return True


async def void(
    table_id: UUID, body: Opened | None, *, epoch: int, reason: str, store: TablesStore, zone: ZoneInfo
) -> bool:
    """End a game that cannot go on: `GameVoided` returns everything, and a record shows how far it went (P70).

    Without a `body`, for nobody can read it, there is no record, and the event names no seats: whoever returns entries
    knows them by the table. Idempotent like `finish`.
    """
    async with store.transaction() as tx:
        if not await tx.end(table_id, epoch, VOIDED):
            return False
        await call_off(table_id, body, reason=reason, tx=tx, zone=zone)
    games_voided.labels(reason).inc()
    return True


async def call_off(table_id: UUID, body: Opened | None, *, reason: str, tx: TablesTransaction, zone: ZoneInfo) -> None:
    """What belongs to the end of a game that `tx` has just voided: its record and `GameVoided`."""
    head = await tx.head(table_id)
    assert head is not None, "it was ended in this transaction"
    kept = None if body is None else await _voided_record(head, body, reason, tx)
    if kept is not None:
        now = await tx.now()
        plain, accounts = kept
        await tx.keep_record(table_id, now, calendar.week_id(now, zone=zone), accounts, plain.encode())
    seats = () if body is None else body.seats
    voided = announcements.game_voided(table_id.bytes, head.kind, seats, reason)
    await tx.publish(announcements.TOPIC, table_id.bytes, voided)


async def _voided_record(
    head: Head, body: Opened, reason: str, tx: TablesTransaction
) -> tuple[str, list[bytes]] | None:
    """(record, accounts) of a game that is being called off; None where what broke the game breaks it too."""
    table_id, now = head.table_id, await tx.now()
    try:
        rows = await tx.rows(table_id, head.born)
    except MsgspecError:  # a row that is no entry at all: what is known is the opening
        rows = await tx.rows(table_id, head.born, head.next_seq)
    try:
        plain = dumps(called_off(table_id, body, [(row.body, row.at) for row in rows], now, reason))
        return plain, _accounts(body, rows)
    except Exception as error:
        # The same fault may strike again here. Everything is returned whether or not there is a record to show.
        note("voided_record_failed", error, table=table_id.hex)
        return None


def _accounts(body: Opened, rows: Sequence[Row]) -> list[bytes]:
    """Everybody who has sat at the table."""
    later = [row.body.who.account for row in rows if isinstance(row.body, TakenOver)]
    return [*(seat.account for seat in body.seats if seat.account), *later]


async def closed(table_id: UUID, epoch: int, *, store: TablesStore) -> str | None:
    """Whether a table is finished or voided by the owner of this epoch, and which; None when it is not."""
    async with store.transaction() as tx:
        head = await tx.head(table_id)
    if head is None or head.epoch != epoch or head.status not in (PLAYED_OUT, VOIDED):
        return None
    return head.status


async def opening(table_id: UUID, *, store: TablesStore) -> tuple[Head, Opened | None] | None:
    """Head and row 0 alone, for a table whose rows cannot be folded; no row 0 where that is what nobody can read.

    None: the table is not live.
    """
    async with store.transaction() as tx:
        head = await tx.head(table_id)
        if head is None or head.status != LIVE:
            return None
        return head, await row_0(head, tx)


async def row_0(head: Head, tx: TablesTransaction) -> Opened | None:
    """How the table was opened; None where nobody can read it."""
    try:
        rows = await tx.rows(head.table_id, head.born, head.next_seq)
    except MsgspecError:
        return None
    first = rows[0].body if rows else None
    return first if isinstance(first, Opened) else None
