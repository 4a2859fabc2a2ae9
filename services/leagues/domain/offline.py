"""A game played offline, as its record proves it (P43, P44, X19): legal to the last card, one of those that count."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from libs.engine import fair
from libs.engine.errors import RuleViolation
from libs.engine.game import GAMES, Game, OwnBy
from libs.engine.protocol import Seat
from libs.engine.record import plain
from libs.engine.record.checking import check
from libs.engine.record.flaws import BadRecord as Flawed
from libs.engine.record.flaws import Flaw
from libs.engine.record.model import By, Record
from libs.engine.record.replaying import Played, opening, replay
from libs.house.eligibility import counts
from libs.house.experience import Experience, game_experience
from services.leagues.domain.errors import BadRecord, UnknownGame

MODES: Final = ("8-1-8", "8-8-8", "quick")  # of Romanian Whist (P44)
# What may be chosen in each game; all else is as usual. English and American Whist are one game (W5).
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {"romanian": ("mode",), "english": ("target", "honours")}
OWN_PHASE: Final = {OwnBy.BIDS: "bid", OwnBy.CARDS: "play"}  # the decisions that make a round one's own (P16)
LATELY_ROUNDS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineGame:
    """What is left of a record when it has been played again."""

    digest: bytes  # 32 bytes over deals and moves: the same for the same game, however it is written
    commitment: bytes
    game: str
    counted: bool  # by P16, as at friends' tables
    experience: int  # what the game would be worth online


def judge(written: str, numbers: Experience) -> OfflineGame:
    """Play a record again. Raises BadRecord with the `problem`, and UnknownGame for what is not played offline."""
    try:
        taken = plain.taken_apart(plain.parsed(written))
        record = taken.record
        _check_variant(record)
        seat = _own_seat(record)
        played = check(*taken)
        if played.result is None:
            raise BadRecord(problem="NOT_FINISHED")
        mine = _own_rounds(record, seat, played.game)
    except Flawed as flaw:
        if flaw.reason is Flaw.UNKNOWN_GAME:
            raise UnknownGame(**_short(record)) from flaw
        raise BadRecord(problem=flaw.reason.value, place=str(flaw.place)[:200]) from flaw
    return _worth(record, played, seat, mine, numbers)


def _check_variant(record: Record) -> None:
    """Only what the offline game offers; a harness or a longer match would be another price for the same work."""
    chosen = CHOICES.get(record.game)
    if chosen is None or (record.game == "romanian" and record.options.get("mode") not in MODES):
        raise UnknownGame(**_short(record))
    opening(record)
    game = GAMES[record.game]
    try:
        usual = game.new(record.players, {name: record.options[name] for name in chosen if name in record.options})
    except RuleViolation as refused:
        raise BadRecord(problem=refused.reason) from refused
    if _options(game, usual) != _options(game, game.new(record.players, record.options)):
        raise UnknownGame(**_short(record))


def _options(game: Game, state: object) -> Mapping[str, Any]:
    options: Mapping[str, Any] = game.view(state, None)["options"]
    return options


def _own_seat(record: Record) -> Seat:
    """The first drawn by "seats", as everywhere offline; the others' moves are bots'."""
    if record.secret is None:
        raise BadRecord(problem="NO_SECRET")
    if record.table is not None:
        raise BadRecord(problem="PLAYED_ONLINE")
    seat = fair.permutation(record.secret, "seats", record.players).index(0)
    for number, move in enumerate(record.moves):
        if move.seat != seat and move.by is not By.BOT:
            raise BadRecord(problem="ANOTHER_SEAT", move=number)
    return seat


def _own_rounds(record: Record, seat: Seat, game: Game) -> set[int]:
    """The rounds of which the person made every bid, or where there are none played every card."""
    mine, others = set[int](), set[int]()
    deals, state = 0, None
    for step in replay(record):
        if step.move is None:
            deals += any(game.checkpoint(event) is not None for event in step.events)
        elif step.move.seat == seat and game.phase(state) == OWN_PHASE[game.own_by]:
            (mine if step.move.by is By.PERSON else others).add(deals - 1)
        state = step.state
    return mine - others


def _worth(record: Record, played: Played, seat: Seat, mine: set[int], numbers: Experience) -> OfflineGame:
    result = played.game.result(played.state)
    facts = result.seats[seat]
    by_bids = played.game.own_by is OwnBy.BIDS
    rounds = [number for number, fact in enumerate(facts) if (fact.bid is not None if by_bids else fact.cards)]
    own = [number for number in rounds if number in mine]
    counted = counts("offline", len(rounds), len(own), not set(own).isdisjoint(rounds[-LATELY_ROUNDS:]))
    made = sum(facts[number].made for number in own)
    return OfflineGame(
        digest=_digest(record, played),
        commitment=record.commitment,
        game=record.game,
        counted=counted,
        experience=game_experience(len(own), made, result.place(seat), counted, numbers=numbers),
    )


def _digest(record: Record, played: Played) -> bytes:
    """Over what was dealt and decided alone: not over times, names, actors, order of keys or white space."""
    game = [
        record.game,
        record.players,
        _options(played.game, played.state),
        [deal.dump() for deal in played.deals],
        [[move.seat, move.action] for move in record.moves],
    ]
    return hashlib.sha256(json.dumps(game, sort_keys=True, separators=(",", ":")).encode()).digest()


def _short(record: Record) -> Mapping[str, str]:
    return {"game": record.game[:40]}
