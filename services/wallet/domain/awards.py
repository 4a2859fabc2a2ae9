"""What is given: the signup gift (P10), prizes (P6), the first game of the day (P12)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from libs.house.eligibility import counts
from libs.house.modes import Coffee
from libs.house.platform import Platform
from libs.house.prizes import PLACE_BP, prize_coins
from libs.house.rooms import GUEST_ROOM, Room
from services.wallet.domain.assets import CUPS, Amounts, Asset
from services.wallet.domain.facts import Fact, GiftGiven, PrizePaid
from services.wallet.domain.holds import Hold
from services.wallet.domain.ledger import AccountId, House, Reason, TableId, Transfer, move


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedSeat:
    """A person at a finished game, as seated at the start. `place` is 1-based."""

    account_id: AccountId
    guest: bool
    room: int
    place: int
    rounds: int
    own_bids: int
    bid_lately: bool
    left: bool

    @property
    def counts(self) -> bool:
        """Did not leave (P8) and bid oneself (P16)."""
        return not self.left and counts("quick", self.rounds, self.own_bids, self.bid_lately)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedGame:
    """A finished quick game: its people, and the day and week it finished in, stamped by the table."""

    table_id: TableId
    day_id: str
    week_id: str
    seats: tuple[FinishedSeat, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Award:
    """A transfer and what is told when it takes place."""

    transfer: Transfer
    fact: Fact


def signup_award(account_id: AccountId, platform: Platform) -> Award:
    """Coins and cups of each kind, once an account (P10)."""
    gift = platform.signup_gift
    amounts = {Asset.COIN: gift.coins, **dict.fromkeys(CUPS.values(), gift.cups_each)}
    return _gift(account_id, "signup", f"signup:{account_id}", Reason.SIGNUP_GIFT, _some(amounts))


def game_awards(game: FinishedGame, paid: Mapping[AccountId, Hold], platform: Platform) -> Sequence[Award]:
    """Prizes and first-game gifts of one game.

    `paid`: the entries that were paid at this table; a prize is that of the room, and multiplied by the cup, that
    were paid for. A bot that places takes nothing and nobody moves up (P6): places are taken as they are.
    """
    awards: list[Award] = []
    for seat in game.seats:
        if not seat.counts:
            continue
        coins = _prize(seat, paid.get(seat.account_id), platform)
        if coins:
            awards.append(_prize_award(game, seat, coins))
        if not seat.guest and platform.first_game_bars:
            awards.append(_first_game_award(game, seat, platform))
    return awards


def _prize(seat: FinishedSeat, entry: Hold | None, platform: Platform) -> int:
    if not 1 <= seat.place <= len(PLACE_BP):
        return 0
    if seat.guest:  # the first room's prize, no coffee (P2, P42)
        room = platform.room(GUEST_ROOM)
        return prize_coins(room.prize_coins, seat.place, Coffee.NONE) if seat.room == GUEST_ROOM else 0
    if entry is not None:
        return prize_coins(platform.room(entry.room).prize_coins, seat.place, entry.coffee)
    room = platform.room(seat.room)
    return prize_coins(room.prize_coins, seat.place, Coffee.NONE) if _is_free(room) else 0


def _is_free(room: Room) -> bool:
    return not room.entry_coins and not room.entry_bars


def _prize_award(game: FinishedGame, seat: FinishedSeat, coins: int) -> Award:
    transfer = move(
        {Asset.COIN: coins},
        source=House.PRIZES,
        target=seat.account_id,
        key=f"prize:{game.table_id}:{seat.account_id}",
        reason=Reason.PRIZE,
        table_id=game.table_id,
    )
    fact = PrizePaid(
        account_id=seat.account_id, table_id=game.table_id, coins=coins, place=seat.place, week_id=game.week_id
    )
    return Award(transfer=transfer, fact=fact)


def _first_game_award(game: FinishedGame, seat: FinishedSeat, platform: Platform) -> Award:
    key = f"first_game:{game.day_id}:{seat.account_id}"
    bars = {Asset.BAR: platform.first_game_bars}
    return _gift(seat.account_id, "first_game_of_day", key, Reason.FIRST_GAME_GIFT, bars, game.table_id)


def _gift(
    account_id: AccountId, gift: str, key: str, reason: Reason, amounts: Amounts, table_id: TableId | None = None
) -> Award:
    transfer = move(amounts, source=House.GIFTS, target=account_id, key=key, reason=reason, table_id=table_id)
    return Award(transfer=transfer, fact=GiftGiven(account_id=account_id, gift=gift, amounts=amounts))


def _some(amounts: Amounts) -> Amounts:
    return {asset: amount for asset, amount in amounts.items() if amount}
