"""A hold: one seat's entry set aside at seating, which becomes the entry at the deal or comes back (P2, P7, P8)."""

from dataclasses import dataclass
from enum import StrEnum

from libs.house.modes import Coffee
from libs.house.rooms import Room
from services.wallet.domain.assets import Amounts, entry_amounts
from services.wallet.domain.errors import HoldDiffers, HoldResolved
from services.wallet.domain.ledger import AccountId, House, Reason, TableId, Transfer, move


class HoldState(StrEnum):
    """A hold is resolved at most once; a paid one comes back only with the whole game."""

    OPEN = "open"
    PAID = "paid"
    RELEASED = "released"


class GameState(StrEnum):
    """What the wallet knows of a table. A table that is not open takes no hold any more."""

    OPEN = "open"
    STARTED = "started"
    FINISHED = "finished"
    VOIDED = "voided"
    ABANDONED = "abandoned"

    @property
    def before(self) -> frozenset["GameState"]:
        """The states it may follow; events that come late or again follow none."""
        return _BEFORE[self]


_BEFORE = {
    GameState.OPEN: frozenset[GameState](),
    GameState.STARTED: frozenset({GameState.OPEN}),
    GameState.FINISHED: frozenset({GameState.OPEN, GameState.STARTED}),
    GameState.VOIDED: frozenset({GameState.OPEN, GameState.STARTED}),
    GameState.ABANDONED: frozenset({GameState.OPEN}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """One seat's entry. `room` is 0 where a release came before the hold: a tombstone that refuses it."""

    table_id: TableId
    account_id: AccountId
    room: int
    coffee: Coffee
    coins: int
    bars: int
    state: HoldState

    @property
    def amounts(self) -> Amounts:
        return entry_amounts(coins=self.coins, bars=self.bars, coffee=self.coffee)

    def answers(self, asked: "Hold") -> "Hold":
        """This hold as the answer to a repeated request.

        The first price stands when the rooms' entries have changed meanwhile. Raises HoldResolved, HoldDiffers.
        """
        if self.state is not HoldState.OPEN:
            raise HoldResolved
        if (self.room, self.coffee) != (asked.room, asked.coffee):
            raise HoldDiffers
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A hold of a table that was dealt, as it is from then on, and what it was before."""

    hold: Hold
    was: HoldState


def new_hold(table_id: TableId, account_id: AccountId, room: Room, coffee: Coffee) -> Hold:
    """The entry of the player's own room (P5), in bars too where the room asks for them (P7)."""
    return Hold(
        table_id=table_id,
        account_id=account_id,
        room=room.number,
        coffee=coffee,
        coins=room.entry_coins,
        bars=room.entry_bars,
        state=HoldState.OPEN,
    )


def set_aside(hold: Hold) -> Transfer:
    """At seating: out of the player's reach."""
    return _moved(hold, "hold", Reason.ENTRY_HOLD, hold.account_id, House.HOLDS)


def pay(hold: Hold) -> Transfer:
    """At the deal: spent."""
    return _moved(hold, "entry", Reason.ENTRY_PAID, House.HOLDS, House.ENTRIES)


def release(hold: Hold) -> Transfer:
    """No deal, or not with this player: back as it was."""
    return _moved(hold, "release", Reason.ENTRY_RELEASE, House.HOLDS, hold.account_id)


def give_back(hold: Hold) -> Transfer:
    """A void game: the paid entry comes back."""
    return _moved(hold, "return", Reason.ENTRY_RETURN, House.ENTRIES, hold.account_id)


def refund(hold: Hold) -> Transfer:
    """A game that the player gives back: what was paid for it comes back (P14). The hold stays paid."""
    return _moved(hold, "refund", Reason.REFUND, House.ENTRIES, hold.account_id)


def _moved(hold: Hold, act: str, reason: Reason, source: AccountId | House, target: AccountId | House) -> Transfer:
    return move(
        hold.amounts,
        source=source,
        target=target,
        key=f"{act}:{hold.table_id}:{hold.account_id}",
        reason=reason,
        table_id=hold.table_id,
    )
