"""The two stronger players (P63): *keen* tries every legal move on deals that fit the bids, *sharp* looks harder.

Both read the view and nothing else, and answer the same for the same view and seed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from libs.engine.bots import choose as calm
from libs.engine.protocol import Action, View
from libs.search.concealed import bid_points, is_concealed
from libs.search.family import bots as family
from libs.search.rollouts import Rollouts
from libs.search.seeing import look, texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """How hard a player thinks.

    `bids` and `plays` are stages of (moves kept, deals): each stage plays the moves that have earned most so far on
    so many further deals, at a table of four. Of these a larger table gets its share, by players: there a round takes
    longer to play out, and a decision may not.
    """

    bids: tuple[tuple[int, int], ...]
    plays: tuple[tuple[int, int], ...]
    candidates: int  # of so many sampled deals one is kept, by the likelihood of what was played
    exact: int  # tricks from the end that are solved with all hands known
    spoil: float  # what a point of the others' mean is worth against one's own
    shares: Mapping[int, float]


KEEN: Final = Strength(
    bids=((9, 20), (4, 40), (2, 80)),
    plays=((8, 16), (3, 20), (2, 40)),
    candidates=1,
    exact=0,
    spoil=0.0,
    shares=MappingProxyType({4: 1.0, 5: 0.77, 6: 0.53}),
)
SHARP: Final = Strength(
    bids=((9, 144), (4, 288), (2, 480)),
    plays=((8, 96), (3, 192), (2, 288)),
    candidates=2,
    exact=2,
    spoil=0.3,
    shares=MappingProxyType({4: 1.0, 5: 0.5, 6: 0.34}),
)


STRENGTHS: Final[Mapping[str, Strength | None]] = MappingProxyType({"calm": None, "keen": KEEN, "sharp": SHARP})

THINKERS: Final = frozenset({"romanian", *family.FAMILY})  # games that have players stronger than calm


def strongest(game_name: str, strength: str) -> str:
    """The strongest player that the game has, up to `strength`: a table asks for one and its game may have less.

    Raises KeyError for a strength that does not exist.
    """
    return strength if STRENGTHS[strength] is None or game_name in THINKERS else "calm"


def choose(game_name: str, view: View, strength: str = "calm", seed: int = 0) -> Action:
    """A legal move for the seat whose view this is; the same for the same view and seed (0..2^64-1).

    `view` must have "legal" moves. Calm is the engine's own rule-based player and rolls no dice. Raises KeyError for a
    strength, or a game, without a player.
    """
    thinking = STRENGTHS[strength]
    if thinking is None:
        return calm(game_name, view, strength)
    if game_name not in THINKERS:
        raise KeyError((game_name, strength))
    if game_name in family.FAMILY:
        return family.think(view, family.THINKING[strength], seed)
    return think(view, thinking, seed)


def think(view: View, strength: Strength, seed: int) -> Action:
    """The legal move that promises most. The view must have "legal" moves; `seed` 0..2^64-1."""
    legal: list[Action] = view["legal"]
    if len(legal) == 1:
        return legal[0]
    if is_concealed(view):
        return max(legal, key=lambda action: bid_points(view, action["bid"]))
    kernel = look(view, seed, believing=True)
    share = strength.shares[view["players"]]
    if view["phase"] == "bid":
        return {"bid": _best(kernel, kernel.bid, _shared(strength.bids, share), strength)}
    return {"play": texts(view["players"])[_best(kernel, kernel.play, _shared(strength.plays, share), strength)]}


def _shared(stages: Sequence[tuple[int, int]], share: float) -> list[tuple[int, int]]:
    return [(keep, round(share * deals)) for keep, deals in stages]


def _best(
    kernel: Rollouts, first: Callable[[int, int, int], list[int]], stages: Sequence[tuple[int, int]], strength: Strength
) -> int:
    (_, deals), *later = stages
    actions = first(deals, strength.candidates, strength.exact)
    if len(actions) == 1:
        return actions[0]
    for keep, more in later:
        actions = kernel.narrow(keep, more, strength.candidates, strength.exact)
        deals += more
    worth = kernel.worth(deals, strength.spoil)
    return actions[max(range(len(worth)), key=worth.__getitem__)]
