"""What tests of records arrange with: random games written down."""

from base64 import urlsafe_b64decode
from random import Random

from libs.engine import fair
from libs.engine.game import GAMES
from libs.engine.record.model import By, Drawn, Move, Record
from libs.engine.replay import fold
from tests.engine.family import Table

ROMANIAN: list[Table] = [("romanian", 4, {"mode": "8-1-8"}), ("romanian", 6, {"mode": "quick"})]


def recorded(
    table: Table, seed: int, *, secret: bool = True, most: int = 10_000, names: tuple[str, ...] = (), times: bool = True
) -> Record:
    """A random game's record, broken off after `most` decisions."""
    name, players, options = table
    game, rng = GAMES[name], Random(seed)
    key = rng.randbytes(32)
    state = game.new(players, options)
    moves: list[Move] = []
    draws: list[Drawn] = []
    at_ms = 1_796_025_375_123
    while not game.over(state):
        if (draw := game.draw(state)) is not None:
            order = fair.permutation(key, draw.label, draw.size)
            draws.append(Drawn(draw.label, order))
            events = game.decide_draw(state, order)
        elif len(moves) == most:
            break
        else:
            seat = game.to_act(state)
            assert seat is not None
            action = rng.choice(game.legal(state))
            at_ms += rng.randrange(9_000)
            moves.append(Move(seat=seat, action=action, by=rng.choice(list(By)), at_ms=at_ms if times else None))
            events = game.decide(state, seat, action)
        state = fold(game, state, events)
    return Record(
        game=name,
        rules_version=game.rules_version,
        players=players,
        options=options,
        names=names,
        commitment=fair.commitment(key),
        secret=key if secret else None,
        draws=() if secret else tuple(draws),
        moves=tuple(moves),
    )


def link_bytes(link: str) -> bytes:
    """What a link holds, its check included."""
    return urlsafe_b64decode(link + "=" * (-len(link) % 4))
