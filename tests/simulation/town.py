"""Who lives in the town, and what they play: by a seed, and by what everybody can pay."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

SEATS = 6
CUPS = ("cup_x1_5", "cup_x2", "cup_x3", "cup_x5")
GRADES = ("A+", "A", "B", "C", "D", "F", "")


class Fate(StrEnum):
    """How a game ends."""

    FINISHED = "finished"
    VOIDED = "voided"  # in the middle, by a fault of ours
    UNDONE = "undone"  # finished, and voided by an operator afterwards


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A guest, or who has had an account since that moment."""

    account_id: UUID
    guest: bool
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """One person's seat in one game. `cup` is an asset's name, or empty."""

    person: Person
    room: int
    cup: str
    place: int
    rounds: int
    own_bids: int
    bid_lately: bool
    left: bool
    grade: str
    runs: int

    @property
    def counts(self) -> bool:
        """P16, P8: two thirds of the rounds and one of the last three, and stayed."""
        return not self.left and self.bid_lately and 3 * self.own_bids >= 2 * self.rounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """One quick table; the seats that are no person's are bots'."""

    table_id: UUID
    classic: bool
    fate: Fate
    plays: tuple[Play, ...]


class Town:
    """Draws everything from one stream of chance, so that a seed is a week's whole history.

    Who plays in which group depends on whose prize is heard first, so podiums, and what they pay for in later weeks,
    may differ from run to run.
    """

    def __init__(self, seed: int, players: int, since: datetime) -> None:
        self.random = random.Random(seed)
        self.people = tuple(
            Person(account_id=self.new_id(), guest=self.random.random() < 0.1, since=since) for _ in range(players)
        )

    def new_id(self) -> UUID:
        return UUID(int=self.random.getrandbits(128), version=4)

    def tables(self) -> Iterator[Sequence[Person]]:
        """Everybody at one table or none: two to six people each, in an order of the evening."""
        people = list(self.people)
        self.random.shuffle(people)
        while people:
            size = self.random.choice((1, 3, 5, 5, 6, 6))
            yield people[:size]
            people = people[size:]

    def game(self, people: Sequence[tuple[Person, Sequence[int], Sequence[str]]]) -> Game:
        """One game of these people, each with the rooms and the cups that they can pay."""
        classic = self.random.random() < 0.3
        rounds = 30 if classic else 6
        places = self.random.sample(range(1, SEATS + 1), len(people))
        plays = tuple(
            Play(
                person=person,
                room=self.random.choice(rooms),
                cup=self.random.choice(cups) if cups and self.random.random() < 0.3 else "",
                place=place,
                rounds=rounds,
                own_bids=self.random.choice((rounds, rounds, rounds, rounds * 2 // 3, rounds * 2 // 3 - 1)),
                bid_lately=self.random.random() < 0.95,
                left=self.random.random() < 0.05,
                grade=self.random.choice(GRADES),
                runs=self.random.choice((0, 0, 0, 1, 2)),
            )
            for (person, rooms, cups), place in zip(people, places, strict=True)
        )
        fate = self.random.choices((Fate.FINISHED, Fate.VOIDED, Fate.UNDONE), (90, 6, 4))[0]
        return Game(table_id=self.new_id(), classic=classic, fate=fate, plays=plays)
