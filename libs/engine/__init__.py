"""The rules of Whist as plain values: pure Python, standard library alone.

A game is a state that only events change. `decide` turns a player's move into events or refuses it
with a `RuleViolation`; `evolve` applies an event; `view` and `project` show what one observer may
know. No clock, no randomness, no I/O: shuffles come in as permutations (`fair`), so that every game
can be replayed (`replay`) and every deal checked.

    from libs.engine.game import GAMES        # by name, all under `protocol.Game`
    from libs.engine.errors import RuleViolation
    from libs.engine.follow import follow     # a client's reducer
    from libs.engine.bots import choose       # a rule-based player, from its own view alone
"""
