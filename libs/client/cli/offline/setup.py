"""What a game played here is: its variant, seats, options, bots and secret, from what was typed behind the command."""

import hashlib
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from libs.client.cli.moves import number_in
from libs.engine import fair
from libs.engine.errors import RuleViolation
from libs.engine.game import GAMES
from libs.search import strongest

ROMANIAN_PLAYERS: Final = 6  # P1: quick and classic alike


class GameName(StrEnum):
    """What may be played here. American Whist is English Whist with other options (W5)."""

    ENGLISH = "english"
    AMERICAN = "american"
    SOLO = "solo"
    KNOCKOUT = "knockout"
    GERMAN = "german"
    ROMANIAN = "romanian"


class Mode(StrEnum):
    """P1's two, which online play offers, and the other schedules of R2."""

    QUICK = "quick"
    CLASSIC = "classic"
    EIGHT_ONE_EIGHT = "8-1-8"
    EIGHT_EIGHT_EIGHT = "8-8-8"
    ONE_EIGHT_ONE = "1-8-1"


class Bots(StrEnum):
    """P63."""

    CALM = "calm"
    KEEN = "keen"
    SHARP = "sharp"


USUAL_BOTS: Final = Bots.KEEN  # or the strongest below it that the game has


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """The engine's game, how many sit at it unless said otherwise, and the options that make the variant."""

    game: str
    players: int
    options: tuple[tuple[str, object], ...] = ()


VARIANTS: Final[Mapping[GameName, Variant]] = MappingProxyType(
    {
        GameName.ENGLISH: Variant(game="english", players=4),
        GameName.AMERICAN: Variant(game="english", players=4, options=(("target", 7), ("honours", False))),
        GameName.SOLO: Variant(game="solo", players=4),
        GameName.KNOCKOUT: Variant(game="knockout", players=4),
        GameName.GERMAN: Variant(game="german", players=2),
        GameName.ROMANIAN: Variant(game="romanian", players=ROMANIAN_PLAYERS),
    }
)


class WrongUsage(Exception):
    """The command cannot mean anything; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """A game that its rules accept. `options` are all of them, as the engine writes them."""

    game: str
    players: int
    options: Mapping[str, object]
    bots: str
    secret: bytes


def set_up(
    name: GameName,
    *,
    players: int | None = None,
    mode: Mode | None = None,
    options: Sequence[str] = (),
    bots: Bots | None = None,
    seed: str | None = None,
) -> Setup:
    """Everything that was not said is as usual. Raises WrongUsage naming the option that the rules refuse."""
    variant = VARIANTS[name]
    if mode is not None and name is not GameName.ROMANIAN:
        raise WrongUsage(f"--mode is Romanian Whist's; {name} has none")
    seats = variant.players if players is None else players
    chosen = dict(variant.options) | _options(options)
    if name is GameName.ROMANIAN:
        if "mode" in chosen:
            raise WrongUsage("--option mode: say it with --mode")
        seats, chosen["mode"] = _schedule(players, mode)
    game = GAMES[variant.game]
    try:
        view = game.view(game.new(seats, chosen), None)
    except RuleViolation as refused:
        raise WrongUsage(_refusal(name, refused, _known(variant))) from None
    return Setup(
        game=variant.game,
        players=seats,
        options=view["options"],
        bots=_strength(variant.game, bots),
        secret=_secret(seed),
    )


def _schedule(players: int | None, mode: Mode | None) -> tuple[int, str]:
    """R2: seats and schedule. Quick is for six, so four or five without a mode play 8-1-8."""
    if mode is None:
        mode = Mode.QUICK if players in {None, ROMANIAN_PLAYERS} else Mode.EIGHT_ONE_EIGHT
    if mode is Mode.CLASSIC:
        if players not in {None, ROMANIAN_PLAYERS}:
            raise WrongUsage(f"--players {players}: classic is for six; say --mode 8-1-8 for four or five")
        return ROMANIAN_PLAYERS, Mode.EIGHT_ONE_EIGHT.value
    return ROMANIAN_PLAYERS if players is None else players, mode.value


def _options(pairs: Sequence[str]) -> dict[str, object]:
    """["honours=false", "target=7"] as values. Raises WrongUsage."""
    given: dict[str, object] = {}
    for pair in pairs:
        field, equals, text = pair.partition("=")
        if not equals or not field:
            raise WrongUsage(f"--option {pair[:40]!r}: write it as key=value")
        if field in given:
            raise WrongUsage(f"--option {field}: said twice")
        number = number_in(text)
        given[field] = {"true": True, "false": False}.get(text, text) if number is None else number
    return given


def _known(variant: Variant) -> list[str]:
    """The options that the game has beside Romanian's mode; R11's one_card is written where it is on."""
    game = GAMES[variant.game]
    needed = {"mode": Mode.QUICK.value, "one_card": "hidden"} if variant.game == GameName.ROMANIAN else {}
    view = game.view(game.new(variant.players, needed), None)
    return [field for field in view["options"] if field != "mode"]


def _refusal(name: GameName, refused: RuleViolation, known: Sequence[str]) -> str:
    field, allowed = refused.facts.get("field"), refused.facts.get("allowed")
    if allowed is None:
        return f"{refused.reason}: {name} has no option {str(field)[:40]!r}; it has {', '.join(known)}"
    words = ", ".join(_plain(one) for one in allowed) if isinstance(allowed, list) else str(allowed)
    said = "--players" if field == "players" else f"--option {field}"
    return f"{refused.reason}: {said}: {name} allows {words}"


def _plain(value: object) -> str:
    """As it is typed."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _strength(game: str, asked: Bots | None) -> str:
    """The one place where the bots of a game played here are chosen. Raises WrongUsage for ones that it has not."""
    found = strongest(game, asked or USUAL_BOTS)
    if asked is not None and found != asked:
        raise WrongUsage(f"--bots {asked}: this game's strongest are {found}")
    return found


def _secret(seed: str | None) -> bytes:
    """P70: from the system's source; from a seed its SHA-256, so that the same deals can be played again."""
    return secrets.token_bytes(fair.SECRET_BYTES) if seed is None else hashlib.sha256(os.fsencode(seed)).digest()
