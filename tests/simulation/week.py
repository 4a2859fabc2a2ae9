"""Evenings of games and the ends of weeks, as the services are told of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

from libs.chassis.errors import DomainError
from libs.chassis.events.envelope import Event
from libs.house.calendar import day_id, week_bounds, week_id
from libs.house.vip import is_vip_day
from tests.simulation.books import Books
from tests.simulation.system import VIP_KEY, System, at_once, envelope
from tests.simulation.town import Fate, Game, Person, Play, Town
from whist.auth.v1.events_pb2 import AccountCreated, AccountSeen, AuthEvent
from whist.coach.v1.events_pb2 import CoachEvent, GameAnalysed, SeatAnalysed
from whist.tables.v1.events_pb2 import GameFinished, GameStarted, GameVoided, Seat, SeatResult, TablesEvent
from whist.tables.v1.tables_pb2 import TABLE_KIND_QUICK
from whist.types.v1 import types_pb2
from whist.wallet.v1.wallet_pb2 import HoldEntryRequest, RefundRequest

AUTH, TABLES, COACH = "whist.auth.events.v1", "whist.tables.events.v1", "whist.coach.events.v1"
COFFEE = {
    "": types_pb2.COFFEE_UNSPECIFIED,
    "cup_x1_5": types_pb2.COFFEE_X1_5,
    "cup_x2": types_pb2.COFFEE_X2,
    "cup_x3": types_pb2.COFFEE_X3,
    "cup_x5": types_pb2.COFFEE_X5,
}


@dataclass
class Chronicle:
    """The town's history, told to the services and written into the books."""

    town: Town
    system: System
    books: Books
    zone: ZoneInfo
    late: list[Event] = field(default_factory=list)  # repetitions that come when everybody has forgotten

    @property
    def random(self) -> Random:
        return self.town.random

    def dice(self) -> Random:
        """Chance of one's own for what runs beside others, so that who comes first does not change a seed's history."""
        return Random(self.random.getrandbits(64))

    async def settle_in(self) -> None:
        """Everybody has an account, or is a guest."""
        for person in self.town.people:
            self.books.welcome(person)
        await at_once(
            self._tell(AUTH, person, AuthEvent(account_created=_created(person)), self.dice())
            for person in self.town.people
        )

    async def evening(self) -> None:
        """Some are seen, everybody plays once, some take their game back, and some of it is told again."""
        now = await self.system.machine.now()
        here = [person for person in self.town.people if self.random.random() < 0.7]
        for person in here:
            self.books.seen(person, now, self.zone)
        await at_once(self._seen(person, now, self.dice()) for person in here)
        games = [
            self.town.game([(person, *self.books.affordable(person)) for person in people])
            for people in self.town.tables()
        ]
        day, week = day_id(now, zone=self.zone), week_id(now, zone=self.zone)
        for game in games:
            self.books.played(game, day, week)
            if game.fate is not Fate.VOIDED:
                self.system.tables.finished.setdefault(week, []).append(game.table_id)
        await at_once(self._play(game, now, self.dice()) for game in games)
        wishes = [(game, play) for game in games for play in game.plays if self.random.random() < 0.3]
        for game, play in [*wishes, *self.random.sample(wishes, len(wishes) // 4)]:
            await self._refund(game, play, now)
        self.late.sort(key=lambda event: (event.topic, event.key, event.type))
        self.random.shuffle(self.late)
        half = len(self.late) // 2
        again, self.late = self.late[:half], self.late[half:]
        await at_once(self.system.bus.publish([event]) for event in again)

    async def end_of_week(self, week: str) -> None:
        """The week is over; leagues find out by themselves."""
        _, end = week_bounds(week, zone=self.zone)
        await self.system.settled()
        await self.system.machine.travel_to(end + timedelta(seconds=1))
        guests = {person.account_id for person in self.town.people if person.guest}
        winners = [each for each, points in self.books.points[week].items() if points > 0 and each not in guests]
        self.books.close(week, self.town.people, await self.system.closed(week, len(winners)))

    # ---- what one service or another would tell ----

    async def _tell(
        self, topic: str, about: Person | Game, message: AuthEvent | TablesEvent | CoachEvent, dice: Random
    ) -> None:
        key = about.account_id if isinstance(about, Person) else about.table_id
        if not message.HasField("occurred_at"):
            message.occurred_at.FromDatetime(await self.system.machine.now())
        event = await self.system.tell(topic, key, message, times=dice.choice((1, 1, 2)))
        if dice.random() < 0.2:
            self.late.append(event)
        if dice.random() < 0.1:  # the same fact under another id
            self.late.append(envelope(topic, key, message))

    async def _seen(self, person: Person, now: datetime, dice: Random) -> None:
        if person.guest:
            return
        seen = AccountSeen(account_id=person.account_id.bytes, day_id=day_id(now, zone=self.zone))
        seen.account_since.FromDatetime(person.since)
        await self._tell(AUTH, person, AuthEvent(account_seen=seen), dice)

    async def _play(self, game: Game, now: datetime, dice: Random) -> None:
        for play in game.plays:
            request = HoldEntryRequest(
                table_id=game.table_id.bytes, account_id=play.person.account_id.bytes, room=play.room,
                coffee=COFFEE[play.cup],
            )  # fmt: skip
            for _ in range(dice.choice((1, 1, 2))):
                await self.system.hold(request)
        told: list[tuple[str, TablesEvent | CoachEvent]] = []
        start = TablesEvent(game_started=_started(game))
        if dice.random() < 0.1:  # the start was lost, and comes when the broker has found it again
            self.late.append(envelope(TABLES, game.table_id, start))
        else:
            told.append((TABLES, start))
        if game.fate is Fate.VOIDED:
            voided = GameVoided(table_id=game.table_id.bytes, kind=TABLE_KIND_QUICK, reason="FAULT")
            told.append((TABLES, TablesEvent(game_voided=voided)))
        else:
            told.append((TABLES, TablesEvent(game_finished=self._finished(game, now))))
            analysed = CoachEvent(game_analysed=self._analysed(game, now))
            told.insert(dice.randrange(len(told) + 1), (COACH, analysed))
        if game.fate is Fate.UNDONE:
            undone = GameVoided(
                table_id=game.table_id.bytes, kind=TABLE_KIND_QUICK, reason="OPERATOR", had_finished=True
            )
            told.append((TABLES, TablesEvent(game_voided=undone)))
        for topic, message in told:
            await self._tell(topic, game, message, dice)

    def _finished(self, game: Game, now: datetime) -> GameFinished:
        finished = GameFinished(
            table_id=game.table_id.bytes, kind=TABLE_KIND_QUICK, mode=_mode(game), game="romanian",
            day_id=day_id(now, zone=self.zone), week_id=week_id(now, zone=self.zone),
            seats=[
                SeatResult(
                    seat=_seat(number, play), place=play.place, own_bids=play.own_bids, own_made=play.own_bids // 2,
                    rounds=play.rounds, bid_lately=play.bid_lately, left=play.left,
                )
                for number, play in enumerate(game.plays)
            ],
        )  # fmt: skip
        finished.started_at.FromDatetime(now)
        return finished

    def _analysed(self, game: Game, now: datetime) -> GameAnalysed:
        return GameAnalysed(
            table_id=game.table_id.bytes, kind=TABLE_KIND_QUICK, mode=_mode(game),
            day_id=day_id(now, zone=self.zone), week_id=week_id(now, zone=self.zone),
            seats=[
                SeatAnalysed(
                    account_id=play.person.account_id.bytes, seat=number, grade=play.grade, runs_of_seven=play.runs
                )
                for number, play in enumerate(game.plays)
            ],
        )  # fmt: skip

    async def _refund(self, game: Game, play: Play, now: datetime) -> None:
        account = play.person.account_id
        expected = self.books.refund(
            game, play, day_id(now, zone=self.zone), week_id(now, zone=self.zone),
            vip_day=is_vip_day(account.bytes, VIP_KEY.encode(), now, zone=self.zone),
        )  # fmt: skip
        request = RefundRequest(account_id=account.bytes, table_id=game.table_id.bytes)
        try:
            await self.system.refund(request)
        except DomainError as error:
            assert error.reason == expected, (game, play)
        else:
            # Asked again it answers as the first time.
            assert expected in ("", "ALREADY_REFUNDED"), (game, play)


def _created(person: Person) -> AccountCreated:
    return AccountCreated(account_id=person.account_id.bytes, name="Ana", guest=person.guest)


def _mode(game: Game) -> types_pb2.Mode.ValueType:
    return types_pb2.MODE_CLASSIC if game.classic else types_pb2.MODE_QUICK


def _seat(number: int, play: Play) -> Seat:
    return Seat(
        seat=number, account_id=play.person.account_id.bytes, guest=play.person.guest, room=play.room,
        coffee=COFFEE[play.cup],
    )  # fmt: skip


def _started(game: Game) -> GameStarted:
    seats: Sequence[Seat] = [_seat(number, play) for number, play in enumerate(game.plays)]
    return GameStarted(
        table_id=game.table_id.bytes, kind=TABLE_KIND_QUICK, mode=_mode(game), game="romanian", seats=seats
    )
