"""Games against bots as `whist play` records them, without the time a bot thinks."""

import hashlib
from collections.abc import Mapping
from typing import Any

from libs.engine import fair
from libs.engine.game import GAMES
from libs.engine.record.model import By, Move, Record
from libs.engine.replay import fold, make_draws


def played(
    seed: str,
    game: str = "romanian",
    players: int = 6,
    options: Mapping[str, Any] | None = None,
    *,
    own: int | None = None,
    moves: int | None = None,
    pick: int = -1,
) -> Record:
    """A game of last legal moves, or of those at `pick`; the first `own` decisions of the person are theirs."""
    rules, secret = GAMES[game], hashlib.sha256(seed.encode()).digest()
    chosen = {"mode": "quick"} if options is None else options
    state = rules.new(players, chosen)
    seat, taken, left = fair.permutation(secret, "seats", players).index(0), list[Move](), own
    while not rules.over(state) and (moves is None or len(taken) < moves):
        if rules.draw(state) is not None:
            state, _ = make_draws(rules, state, secret)
            continue
        actor = rules.to_act(state)
        assert actor is not None
        by = By.BOT
        if actor == seat:
            by = By.PERSON if left is None or left > 0 else By.BOT
            left = None if left is None else left - 1
        action = rules.legal(state)[pick]
        taken.append(Move(seat=actor, action=action, by=by, at_ms=1_700_000_000_000 + len(taken)))
        state = fold(rules, state, rules.decide(state, actor, action))
    options_in_full = rules.view(rules.new(players, chosen), None)["options"]
    return Record(
        game=game,
        rules_version=rules.rules_version,
        players=players,
        options=options_in_full,
        names=tuple(f"Player {number}" for number in range(players)),
        commitment=fair.commitment(secret),
        secret=secret,
        moves=tuple(taken),
    )


def person_of(record: Record) -> int:
    assert record.secret is not None
    return fair.permutation(record.secret, "seats", record.players).index(0)
