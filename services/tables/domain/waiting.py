"""A friends' table before its deal: who sits where, who is host, what was chosen (P20-P22, P25). Pure.

Every function takes a table and returns the next one, or raises and changes nothing.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from uuid import UUID

from libs.engine.errors import RuleViolation
from libs.engine.game import GAMES
from libs.house.bots import Strength
from libs.house.friends import Friends
from services.tables.domain.entries import FriendsTable, SeatFacts
from services.tables.domain.errors import (
    AlreadySeated,
    BadChoice,
    BadOptions,
    Barred,
    NoSuchSeat,
    NotAtTable,
    NotHost,
    SeatsOccupied,
    SeatTaken,
    TableClosed,
    TableDealt,
)

ANY_SEAT = -1
BARRED_MAX = 64  # people whom one host may send away; more and the table had better be closed


class Stage(StrEnum):
    """What has become of a friends' table."""

    WAITING = "waiting"
    DEALT = "dealt"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What the host chose (P21, P22).

    `options` are the engine's for `game`, `players` the seats in all, `bid_seconds` one of those offered. `listed`:
    others find it in the list; else only those who know its id do. `spectators` may watch, and chat where `open_chat`.
    """

    game: str
    options: Mapping[str, object]
    players: int
    bid_seconds: int
    bots: Strength
    listed: bool
    spectators: bool
    open_chat: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingTable:
    """One friends' table; `chairs` by seat, None where nobody sits: a bot will at the deal."""

    table_id: UUID
    stage: Stage
    host: bytes
    choices: Choices
    chairs: tuple[SeatFacts | None, ...]
    barred: frozenset[bytes] = frozenset()
    # Counts changes: who has seen a version asks for the next.
    version: int = 0
    # The newest chat line; 0: none.
    spoken: int = 0

    def seat_of(self, account: bytes) -> int | None:
        """Where the account sits."""
        for seat, person in enumerate(self.chairs):
            if person is not None and person.account == account:
                return seat
        return None

    @property
    def people(self) -> list[SeatFacts]:
        return [person for person in self.chairs if person is not None]


def check_choices(choices: Choices, friends: Friends) -> None:
    """Raises BadChoice (not offered here), BadOptions (the game refuses players or options)."""
    game = GAMES.get(choices.game)
    if game is None:
        raise BadChoice(field="game", allowed=sorted(GAMES))
    if choices.bid_seconds not in friends.bid_seconds:
        raise BadChoice(field="bid_seconds", allowed=list(friends.bid_seconds))
    if not friends.offers(choices.options):
        raise BadChoice(field="mode")
    try:
        game.new(choices.players, choices.options)
    except RuleViolation as refusal:
        raise BadOptions(**refusal.facts) from refusal


def open_waiting(table_id: UUID, host: SeatFacts, choices: Choices, friends: Friends) -> WaitingTable:
    """A new table with its host on the first seat. Raises BadChoice, BadOptions."""
    check_choices(choices, friends)
    empty: tuple[SeatFacts | None, ...] = (None,) * (choices.players - 1)
    return WaitingTable(
        table_id=table_id, stage=Stage.WAITING, host=host.account, choices=choices, chairs=(host, *empty)
    )


def sit(table: WaitingTable, who: SeatFacts, seat: int = ANY_SEAT) -> WaitingTable:
    """Sit down, or move to another seat; the first person at an empty table is host.

    Raises NoSuchSeat, SeatTaken, Barred, AlreadySeated (no seat of one's choice was named and one has a seat), and what
    a table that waits no longer raises.
    """
    _require_waiting(table)
    if who.account in table.barred:
        raise Barred
    own = table.seat_of(who.account)
    if seat == ANY_SEAT:
        if own is not None:
            raise AlreadySeated(seat=own)
        if None not in table.chairs:
            raise SeatTaken(seats=len(table.chairs))
        seat = table.chairs.index(None)
    if not 0 <= seat < len(table.chairs):
        raise NoSuchSeat(seat=seat, seats=len(table.chairs))
    if own == seat:
        return table
    if table.chairs[seat] is not None:
        raise SeatTaken(seat=seat)
    chairs = list(table.chairs)
    if own is not None:
        chairs[own] = None
    chairs[seat] = who
    return replace(table, chairs=tuple(chairs), host=table.host or who.account)


def stand(table: WaitingTable, account: bytes) -> WaitingTable:
    """Give the seat up. Raises NotAtTable, and what a table that waits no longer raises."""
    _require_waiting(table)
    if table.seat_of(account) is None:
        raise NotAtTable
    return without(table, (account,))


def without(table: WaitingTable, accounts: Collection[bytes]) -> WaitingTable:
    """The table after these people have gone: a host's successor is the next person clockwise (P25)."""
    seat = table.seat_of(table.host)
    chairs = tuple(None if person is not None and person.account in accounts else person for person in table.chairs)
    host = table.host
    if host in accounts:
        start = 0 if seat is None else seat
        after = [*chairs[start:], *chairs[:start]]
        host = next((person.account for person in after if person is not None), b"")
    return replace(table, chairs=chairs, host=host)


def kick(table: WaitingTable, by: bytes, account: bytes) -> WaitingTable:
    """The host sends somebody away, who may not come back to this table. Raises NotHost, NotAtTable, BadChoice."""
    _require_waiting(table)
    _require_host(table, by)
    if account == by:
        raise BadChoice(field="account")
    if account not in table.barred and table.seat_of(account) is None:
        raise NotAtTable
    if len(table.barred) >= BARRED_MAX:
        raise BadChoice(field="account", most=BARRED_MAX)
    return replace(without(table, (account,)), barred=table.barred | {account})


def choose(table: WaitingTable, by: bytes, choices: Choices, friends: Friends) -> WaitingTable:
    """The host chooses anew. Raises NotHost, BadChoice, BadOptions, SeatsOccupied."""
    _require_waiting(table)
    _require_host(table, by)
    check_choices(choices, friends)
    if any(person is not None for person in table.chairs[choices.players :]):
        raise SeatsOccupied(players=choices.players)
    missing = choices.players - len(table.chairs)
    kept = table.chairs[: choices.players] + (None,) * max(0, missing)
    return replace(table, choices=choices, chairs=kept)


def deal(table: WaitingTable, by: bytes, friends: Friends) -> WaitingTable:
    """The host deals; bots take the empty seats (P21). Raises NotHost, BadChoice (no longer offered), BadOptions."""
    _require_waiting(table)
    _require_host(table, by)
    check_choices(table.choices, friends)
    return replace(table, stage=Stage.DEALT)


def close(table: WaitingTable, by: bytes) -> WaitingTable:
    """The host closes the table for good. Raises NotHost."""
    _require_waiting(table)
    _require_host(table, by)
    return replace(table, stage=Stage.CLOSED)


def close_anyway(table: WaitingTable) -> WaitingTable:
    """An operator closes it, whoever is host (P82); one that is closed stays so. Raises TableDealt."""
    if table.stage is Stage.DEALT:
        raise TableDealt
    return replace(table, stage=Stage.CLOSED)


def chosen(table: WaitingTable, friends: Friends) -> FriendsTable:
    """What the journal keeps of the host's choices."""
    choices = table.choices
    bid_ms = choices.bid_seconds * 1000
    return FriendsTable(
        bid_ms=bid_ms,
        play_ms=friends.play_ms(bid_ms),
        bots=choices.bots.value,
        spectators=friends.spectators if choices.spectators else 0,
        barred=sorted(table.barred),
    )


def _require_waiting(table: WaitingTable) -> None:
    if table.stage is Stage.DEALT:
        raise TableDealt
    if table.stage is Stage.CLOSED:
        raise TableClosed


def _require_host(table: WaitingTable, account: bytes) -> None:
    if table.host != account:
        raise NotHost
