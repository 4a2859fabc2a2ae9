"""What a finished game gives: prizes (P6), the first game of the day (P12), classic rewards (P15)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from libs.house.eligibility import counts
from libs.house.modes import Coffee
from libs.house.platform import Platform
from libs.house.prizes import PLACE_BP, prize_coins
from libs.house.rooms import GUEST_ROOM
from services.wallet.domain.assets import CUPS, Amounts, Asset
from services.wallet.domain.facts import PrizePaid
from services.wallet.domain.gifts import Award, gift_award
from services.wallet.domain.holds import Hold
from services.wallet.domain.ledger import AccountId, House, Reason, TableId, move
from services.wallet.domain.settled import Analysis, Finish, SettledSeat


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
    """A finished quick game: its people, and the moment, day and week it finished in, stamped by the table."""

    table_id: TableId
    day_id: str
    week_id: str
    # None where the table did not say it.
    started_at: datetime | None
    finished_at: datetime
    classic: bool
    seats: tuple[FinishedSeat, ...]

    @property
    def finish(self) -> Finish:
        """What is kept of it: its end …"""
        return Finish(
            table_id=self.table_id,
            week_id=self.week_id,
            day_id=self.day_id,
            finished_at=self.finished_at,
            classic=self.classic,
        )

    @property
    def settled(self) -> Sequence[SettledSeat]:
        """… and its people."""
        return [
            SettledSeat(
                account_id=seat.account_id,
                guest=seat.guest,
                room=seat.room,
                place=seat.place,
                counts=seat.counts,
                vacated=seat.left,
            )
            for seat in self.seats
        ]


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
    return prize_coins(room.prize_coins, seat.place, Coffee.NONE) if room.is_free else 0


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
    return gift_award(seat.account_id, "first_game_of_day", key, Reason.FIRST_GAME_GIFT, bars, game.table_id)


def classic_awards(
    finish: Finish,
    seats: Sequence[SettledSeat],
    paid: Mapping[AccountId, Hold],
    analyses: Sequence[Analysis],
    platform: Platform,
) -> Mapping[AccountId, Award]:
    """What a classic game pays for playing well, whatever the place (P15), by account in order.

    Only who counts (P16), is no guest, and has the first room as their own: that of the paid entry, or where none was
    paid the seat's. The limit of games a day is the caller's.
    """
    if not finish.classic:
        return {}
    analysed = {each.account_id: each for each in analyses}
    awards: dict[AccountId, Award] = {}
    for seat in sorted(seats, key=lambda each: each.account_id):
        entry, analysis = paid.get(seat.account_id), analysed.get(seat.account_id)
        own_room = seat.room if entry is None else entry.room
        if analysis is None or seat.guest or not seat.counts or own_room != GUEST_ROOM:
            continue
        amounts = _earned(analysis, platform)
        if amounts:
            key = f"classic:{finish.table_id}:{seat.account_id}"
            awards[seat.account_id] = gift_award(
                seat.account_id, "classic", key, Reason.CLASSIC_REWARD, amounts, finish.table_id
            )
    return awards


def _earned(analysis: Analysis, platform: Platform) -> Amounts:
    """A cup and bars by the grade, bars by runs; coffee never multiplies any of it."""
    rewards = platform.classic_rewards
    by_grade = rewards.of(analysis.grade)
    bars = analysis.runs * rewards.run_bars + (by_grade.bars if by_grade else 0)
    amounts = {Asset.BAR: bars} if bars else {}
    return amounts | ({CUPS[by_grade.coffee]: 1} if by_grade else {})
