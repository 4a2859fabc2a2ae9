"""What leagues must come to by the specification: plain sums over what they were told, with nothing of `services`.

People are numbers in the order of their account ids, weeks are numbers from 0. Nothing is added up as it comes: every
figure is counted anew from the set of facts, so that repetitions and the order of facts do not exist here. Only where
the order has a meaning (who sits in which group, what was told to others) the model keeps lists.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

# Numbers of the machine's own platform, so that a few people fill groups and a few uploads a day.
GROUP, UP, DOWN, DOWN_FROM, OFFLINE_GAMES = 4, 2, 1, 3, 1
# Those of the specification.
PODIUM = ((100_000, 50), (80_000, 30), (60_000, 10))  # P51
TIMES = {1: 1, 2: 2, 3: 4, 4: 12}  # P51: Jack, Queen, King, Ace
PLACES = {1: 50, 2: 30, 3: 20}  # P43
QUOTA = {"quick": (2, 3), "friends": (3, 4)}  # P16
NEVER = datetime.max.replace(tzinfo=UTC)

Person = int
Week = int
Number = int
Group = tuple[Week, int, int]  # week, tier, number from 1
Kind = Literal["quick", "friends"]
# Stages of a week's close; in the first three people still join its groups.
STAGES = ("", "sealing", "grouping", "ranking", "closed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """How one person ended one game; `coins` is the prize as paid."""

    who: Person
    place: int
    own: int
    made: int
    lately: bool
    left: bool
    coins: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """A finished game of six rounds (quick) or eighteen (friends) at a table of six."""

    number: Number
    table_id: UUID
    kind: Kind
    week: Week
    at: datetime
    seats: tuple[Seat, ...]

    @property
    def rounds(self) -> int:
        return 6 if self.kind == "quick" else 18

    def counts(self, seat: Seat) -> bool:
        """P16, P8."""
        part, of = QUOTA[self.kind]
        return not seat.left and seat.lately and of * seat.own >= part * self.rounds

    def seat_of(self, who: Person) -> Seat | None:
        return next((seat for seat in self.seats if seat.who == who), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What one is ranked by."""

    who: Person
    points: int
    games: int
    reached: datetime | None

    @property
    def order(self) -> tuple[int, int, datetime, Person]:
        """P53: points, fewer games, who reached the sum first; at last the id."""
        return -self.points, self.games, self.reached or NEVER, self.who


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """How a week ends, or would end."""

    score: Score
    rank: int
    ranked: int
    next_tier: int
    coins: int
    bars: int


def ranks(tier: int, scores: Iterable[Score]) -> list[Rank]:
    """P51-P53, of a group's people; who has no points is not ranked."""
    ordered = sorted((score for score in scores if score.points > 0), key=lambda score: score.order)
    found = []
    for place, score in enumerate(ordered, start=1):
        up = place <= min(UP, -(-len(ordered) // 3)) and tier < 4
        down = len(ordered) >= DOWN_FROM and place > len(ordered) - DOWN and tier > 1
        coins, bars = PODIUM[place - 1] if place <= 3 else (0, 0)
        found.append(
            Rank(score=score, rank=place, ranked=len(ordered), next_tier=tier + up - down,
                 coins=coins * TIMES[tier], bars=bars * TIMES[tier])
        )  # fmt: skip
    return found


def level_of(experience: int) -> int:
    """P43: level L needs 50·L·(L-1)."""
    level = 1
    while 50 * (level + 1) * level <= experience:
        level += 1
    return level


@dataclass
class Model:
    """What leagues have heard, and what follows."""

    heard: dict[Number, Game] = field(default_factory=dict)
    voided: set[Number] = field(default_factory=set)
    prizes: dict[tuple[Number, Person], Game] = field(default_factory=dict)
    returned: set[tuple[Number, Person]] = field(default_factory=set)
    guest: dict[Person, bool] = field(default_factory=dict)  # who is in it auth has told of
    deleted: set[Person] = field(default_factory=set)
    offline: dict[int, tuple[Person, int, Week]] = field(default_factory=dict)  # record: credited to, worth, on the day
    seats: dict[tuple[Week, int], list[Person]] = field(default_factory=lambda: defaultdict(list))
    tier: dict[Person, int] = field(default_factory=lambda: defaultdict(lambda: 1))
    stages: dict[Week, str] = field(default_factory=lambda: defaultdict(str))
    ended: dict[Group, list[Rank]] = field(default_factory=dict)
    told: dict[Person, list[tuple[object, ...]]] = field(default_factory=lambda: defaultdict(list))

    # ---- facts ----

    def finished(self, game: Game) -> None:
        with self._levels(seat.who for seat in game.seats):
            self.heard[game.number] = game

    def void(self, game: Game) -> None:
        with self._levels(seat.who for seat in game.seats):
            self.voided.add(game.number)

    def prize(self, game: Game, who: Person) -> None:
        if (game.number, who) not in self.prizes:
            self.prizes[game.number, who] = game
            self._join(who, game.week)

    def goes_back(self, game: Game, who: Person) -> None:
        self.returned.add((game.number, who))

    def account(self, who: Person, *, guest: bool) -> None:
        """P42: a guest becomes an account, never the other way round."""
        self.guest[who] = self.guest.get(who, True) and guest
        if any(game.week == self.open and of == who for (_, of), game in self.prizes.items()):
            self._join(who, self.open)

    def delete(self, who: Person) -> None:
        self.deleted.add(who)

    def upload(self, record: int, who: Person, whole: int, day: Week) -> tuple[bool, int] | None:
        """P43, P44: whether it is credited and for how much; None: it is another's."""
        if record in self.offline:
            of, worth, _ = self.offline[record]
            return (False, worth) if of == who else None
        before = sum(of == who and on == day for of, _, on in self.offline.values())
        worth = max(1, whole // (2 if before < OFFLINE_GAMES else 10))
        with self._levels([who]):
            self.offline[record] = who, worth, day
        return True, worth

    # ---- sums ----

    def valid(self, kind: Kind) -> Iterator[tuple[Game, Seat]]:
        """Seats that count, of games that were not voided (P82)."""
        for game in self.heard.values():
            if game.kind == kind and game.number not in self.voided:
                yield from ((game, seat) for seat in game.seats if game.counts(seat))

    def experience(self, who: Person) -> int:
        played = sum(
            10 * seat.own + 5 * seat.made + PLACES.get(seat.place, 0)
            for kind in QUOTA
            for _, seat in self.valid("quick" if kind == "quick" else "friends")
            if seat.who == who
        )
        return played + sum(worth for of, worth, _ in self.offline.values() if of == who)

    def games(self, who: Person) -> int:
        return sum(seat.who == who for _, seat in self.valid("quick"))

    def form(self, who: Person) -> str:
        """P54, of the last two."""
        last = sorted((game.at, seat.place <= 3) for game, seat in self.valid("quick") if seat.who == who)[-2:]
        won = {among for _, among in last}
        return "" if len(last) < 2 or len(won) > 1 else "fire" if won.pop() else "ice"

    def standing(self, week: Week) -> Mapping[Person, Score]:
        """P50, as leagues have heard: prizes less what went back; nobody without points or games."""
        points, games, reached = Counter[Person](), Counter[Person](), dict[Person, datetime]()
        for (number, who), game in self.prizes.items():
            if game.week == week and (number, who) not in self.returned:
                seat = game.seat_of(who)
                assert seat is not None
                points[who] += seat.coins
                reached[who] = max(game.at, reached.get(who, game.at))
        games.update(seat.who for game, seat in self.valid("quick") if game.week == week)
        return {
            who: Score(who=who, points=points[who], games=games[who], reached=reached.get(who))
            for who in {*points, *games}
        }

    def leaderboard(self, week: Week) -> list[Score]:
        """P24, in order, everybody in it: of six the k-th scores 6 - k."""
        mine: dict[Person, list[tuple[int, datetime]]] = defaultdict(list)
        for game, seat in self.valid("friends"):
            if game.week == week:
                mine[seat.who].append((6 - seat.place, game.at))
        scores = [
            Score(who=who, points=sum(points for points, _ in own), games=len(own), reached=max(at for _, at in own))
            for who, own in mine.items()
        ]
        return sorted(scores, key=lambda score: score.order)

    # ---- the league ----

    @property
    def open(self) -> Week:
        """The oldest week that is not closed."""
        return sum(stage == "closed" for stage in self.stages.values())

    def is_ranked(self, who: Person) -> bool:
        return self.guest.get(who) is False and who not in self.deleted

    def place_of(self, who: Person, week: Week) -> tuple[Group, int] | None:
        """Group and position in it."""
        for (of, tier), people in self.seats.items():
            if of == week and who in people:
                index = people.index(who)
                return (week, tier, index // GROUP + 1), index % GROUP + 1
        return None

    def members(self, group: Group) -> Sequence[Person]:
        week, tier, number = group
        return self.seats[week, tier][(number - 1) * GROUP : number * GROUP]

    def groups(self) -> Iterator[Group]:
        for (week, tier), people in self.seats.items():
            yield from ((week, tier, number) for number in range(1, -(-len(people) // GROUP) + 1))

    def live(self, group: Group) -> list[Rank]:
        """How a group would end by what was heard."""
        scores = self.standing(group[0])
        return ranks(group[1], (scores[who] for who in self.members(group) if who in scores and self.is_ranked(who)))

    def ended_for(self, who: Person, week: Week) -> Rank | None:
        place = self.place_of(who, week)
        ended = self.ended.get(place[0], []) if place else []
        return next((each for each in ended if each.score.who == who), None)

    def undecided(self, totals: Iterable[Person]) -> set[Person]:
        """Of whom it is not known whether they are guests: a week waits for auth's word."""
        return {who for who in totals if who not in self.guest and who not in self.deleted}

    def _join(self, who: Person, week: Week) -> None:
        """P53: by the first prize into the tier's last group, while the week takes people and the tier is known."""
        takes = week == self.open and STAGES.index(self.stages[week]) < STAGES.index("ranking")
        if takes and self.is_ranked(who) and self.place_of(who, week) is None:
            self.seats[week, self.tier[who]].append(who)

    def _join_all(self, people: Iterable[Person], week: Week) -> None:
        """By the week's first prizes, of who has no group yet."""

        def first(who: Person) -> tuple[datetime, Person]:
            known = [game.at for (_, of), game in self.prizes.items() if of == who and game.week == week]
            return min(known, default=NEVER), who

        for who in sorted(people, key=first):
            if self.is_ranked(who) and self.place_of(who, week) is None:
                self.seats[week, self.tier[who]].append(who)

    def close_came_to(
        self, stages: Mapping[Week, str], closed: set[Group], sealed: Mapping[Week, Mapping[Person, int]]
    ) -> None:
        """Closers stopped there; `sealed` are the wallet's totals. Fails where a step was taken too early."""
        for week, stage in sorted(stages.items()):
            now, before = STAGES.index(stage), STAGES.index(self.stages[week])
            assert now >= before, "what was done is done"
            if before < STAGES.index("ranking") <= now:
                assert week == self.open and not self.undecided(sealed[week])
                self._join_all(sealed[week], week)
            for group in sorted(closed - set(self.ended)):
                if group[0] == week:
                    self._end(group, sealed[week])
            self.stages[week] = stage
            if before < STAGES.index("closed") == now:
                assert {group for group in self.groups() if group[0] == week} <= closed
                self._join_all({who for (_, who), game in self.prizes.items() if game.week == week + 1}, week + 1)

    def _end(self, group: Group, totals: Mapping[Person, int]) -> None:
        """P51-P53: by the wallet's totals; games and times are those that were heard of."""
        week, tier, number = group
        heard, scores = self.standing(week), list[Score]()
        for who in self.members(group):
            own = heard.get(who)
            games, reached = (own.games, own.reached) if own else (0, None)
            if self.is_ranked(who):
                scores.append(Score(who=who, points=totals.get(who, 0), games=games, reached=reached))
        self.ended[group] = ranks(tier, scores)
        for each in self.ended[group]:
            who = each.score.who
            self.told[who].append(
                ("week_closed", week, tier, number, each.rank, each.ranked, each.score.points, each.next_tier)
            )
            if each.rank <= 3:
                self.told[who].append(("podium_won", week, tier, number, each.rank, each.coins, each.bars))
            if each.next_tier != tier:
                self.told[who].append(("tier_changed", each.next_tier))
                self.tier[who] = each.next_tier

    @contextmanager
    def _levels(self, people: Iterable[Person]) -> Iterator[None]:
        """A level that has changed is told, up or down."""
        before = {who: level_of(self.experience(who)) for who in people}
        yield
        for who, level in before.items():
            if (now := level_of(self.experience(who))) != level:
                self.told[who].append(("level_reached", now))
