"""B30: whatever the rules refuse is refused with its reason, at every decision of every game, and changes nothing."""

from collections import Counter
from random import Random
from typing import Any
from uuid import UUID

from prometheus_client import REGISTRY

from libs.chassis.errors import DomainError
from libs.engine.cards import CARD_BY_TEXT
from libs.engine.game import GAMES
from libs.engine.protocol import Action, Seat
from libs.wire import frames
from tests.chaos.scenario import Run, scenario
from tests.chaos.stand import STRANGER, Stand, account_of
from tests.engine.comparison import choose, random_table

TABLES_EACH_RUN, TABLES_SMALL = 60, 40
DECISIONS_MAX = 120  # of one table
# By game: everything that a seat may be told of a move, besides what holds at every table.
EVERYWHERE = frozenset({"BAD_ACTION", "OUT_OF_TURN", "STALE_TURN", "NOT_AT_TABLE", "GAME_OVER"})
REFUSALS: dict[str, frozenset[str]] = {
    "romanian": frozenset({
        "NOT_PLAYING", "NOT_BIDDING", "BID_OUT_OF_RANGE", "BID_BARRED", "CARD_NOT_HELD", "MUST_FOLLOW_SUIT",
        "MUST_TRUMP",
    }),
    "english": frozenset({"NOT_PLAYING", "NOT_CLAIMING", "NO_PENALTY_DUE", "CARD_NOT_HELD", "MUST_FOLLOW_SUIT"}),
    "solo": frozenset({
        "NOT_BIDDING", "CALL_TOO_LOW", "NOT_NAMING", "NOT_PLAYING", "CARD_NOT_HELD", "MUST_FOLLOW_SUIT",
    }),
    "knockout": frozenset({"NOT_NAMING", "NOT_PLAYING", "MUST_PLAY", "CARD_NOT_HELD", "MUST_FOLLOW_SUIT"}),
    "german": frozenset({"CARD_NOT_HELD", "MUST_FOLLOW_SUIT"}),
}  # fmt: skip
BIDS = (-1, 9, 2**53, -(2**63), 2**64 - 1)
NO_MOVES: tuple[Action, ...] = (
    {}, {"bid": 1.5}, {"bid": True}, {"bid": "1"}, {"bid": None}, {"play": "1Z"}, {"play": 7}, {"play": "qh"},
    {"play": "QH", "bid": 0}, {"pass": 1}, {"": ""}, {"play": "QH\0"}, {"call": "PASS"}, {"trumps": "N"}, {"claim": 1},
    {"penalty": "both"}, {"hold": False}, {"play": "x" * 9000},
)  # fmt: skip
EVERY_MOVE: tuple[Action, ...] = (
    *({"play": card} for card in CARD_BY_TEXT),
    *({"bid": bid} for bid in (*range(9), *BIDS)),
    *({"trumps": suit} for suit in "CDHS"),
    *({"call": call} for call in ("pass", "acceptance", "proposal", "solo", "misere", "abundance", "open_misere")),
    *({"claim": claim} for claim in (True, False)),
    *({"penalty": penalty} for penalty in ("points", "tricks")),
    {"hold": True},
)


def standing(stand: Stand) -> tuple[Any, ...]:
    """All that a refusal must leave as it is: state, counters, seats, journal, events, and whose turn it is."""
    table = stand.table
    return (
        table.game.dump_state(table.state), list(table.tallies), list(table.seats), set(table.gone), table.rounds,
        table.next_seq, dict(table.answered), table.turn, table.to_act, len(stand.journal.rows),
        len(stand.published(2**53)), stand.actor.snapshot(None),
    )  # fmt: skip


async def refused_everywhere(name: str, rng: Random) -> Counter[str]:
    """One game with every kind of illegal move at many of its decisions; counts the refusals by reason."""
    _, players, options = random_table(name, rng)
    game = GAMES[name]
    stand = Stand(
        game, UUID(int=rng.getrandbits(128)), options, players, game.new(players, options), secret=rng.randbytes(32)
    )
    seen: Counter[str] = Counter()
    try:
        for seat in range(players):
            stand.follow(account_of(seat))
        stand.follow(STRANGER)
        stand.actor.start()
        await stand.quiet()
        for number in range(DECISIONS_MAX):
            seat_now = stand.table.to_act
            if seat_now is None:
                seen += await _after_the_end(stand)
                break
            legal = list(game.legal(stand.table.state))
            before = standing(stand)
            asked = _attempts(seat_now, players, legal, stand.table.turn, rng)
            for at, (account, turn, action) in enumerate(asked):
                stand.act(account, f"x{number}-{at}", turn, action)
            await stand.quiet()
            if standing(stand) != before:
                raise AssertionError(f"a refused move changed {name} at turn {stand.table.turn}")
            for at, (account, turn, action) in enumerate(asked):
                seen[_reason(stand, f"x{number}-{at}", account, turn, action)] += 1
            stand.act(account_of(seat_now), f"m{number}", stand.table.turn, choose(game, stand.table.state, rng))
            await stand.quiet()
            stand.heard.down.clear()
        if len(stand.journal.moves()) != number + (seat_now is not None):
            raise AssertionError(f"{len(stand.journal.moves())} rows of moves for {number + 1} legal moves")
    finally:
        await stand.close()
    unknown = seen.keys() - REFUSALS[name] - EVERYWHERE
    assert not unknown, f"{name} refuses by {unknown}"
    return seen


async def _after_the_end(stand: Stand) -> Counter[str]:
    """Everybody goes on playing."""
    before, turn = standing(stand), stand.table.turn
    moves: list[Action] = [{"bid": 0}, {"play": "QH"}]
    for seat in range(len(stand.seats)):
        for at, action in enumerate(moves):
            stand.act(account_of(seat), f"end-{seat}-{at}", turn, action)
    await stand.quiet()
    assert standing(stand) == before and stand.keeper.over
    return Counter(
        _reason(stand, f"end-{seat}-{at}", account_of(seat), turn, action)
        for seat in range(len(stand.seats))
        for at, action in enumerate(moves)
    )


def _attempts(seat: Seat, players: int, legal: list[Action], turn: int, rng: Random) -> list[tuple[bytes, int, Action]]:
    """(account, turn, action), none of which may stand."""
    mine, other = account_of(seat), account_of((seat + rng.randrange(1, players)) % players)
    wrong = [action for action in EVERY_MOVE if action not in legal]
    return [
        *((mine, turn, action) for action in rng.sample(wrong, min(len(wrong), 24))),
        *((mine, turn, action) for action in rng.sample(NO_MOVES, 4)),
        *((other, turn, action) for action in (legal[0], rng.choice(EVERY_MOVE))),
        *((mine, wrong_turn, legal[0]) for wrong_turn in (turn + 1, turn - 1, 2**53 - 1, -1)),
        (STRANGER, turn, legal[0]),
    ]  # fmt: skip


def _reason(stand: Stand, req: str, account: bytes, turn: int, action: Action) -> str:
    """The one reason that answered a command; the turn that is awaited stands beside it."""
    [answer] = stand.answers(req)
    error = frames.decode_server.decode(answer.frame)
    if not isinstance(error, frames.Error) or error.turn != stand.table.turn or answer.conn != stand.conn_of(account):
        raise AssertionError(f"{action} at turn {turn} was answered {error}")
    return error.reason


async def refused_take_overs(rng: Random) -> int:
    """Every seat asked for by every sort of person who may not have it; how many were refused."""
    name = rng.choice(sorted(GAMES))
    _, players, options = random_table(name, rng)
    game = GAMES[name]
    stand = Stand(game, UUID(int=rng.getrandbits(128)), options, players, game.new(players, options))
    refused = 0
    try:
        stand.actor.start()
        await stand.quiet()
        before = standing(stand)
        for account, seat, reason in (
            *((STRANGER, seat, "SEAT_TAKEN") for seat in range(players)),
            *((STRANGER, seat, "NO_SUCH_SEAT") for seat in (-1, players, 2**31 - 1)),
            *((account_of(0), seat, "ALREADY_SEATED") for seat in range(players)),
        ):
            try:
                await stand.take_seat(account, seat, f"t{refused}")
            except DomainError as refusal:
                assert refusal.reason == reason, (seat, refusal.reason)
                refused += 1
        assert standing(stand) == before
    finally:
        await stand.close()
    return refused


async def refuse(run: Run, tables: int) -> Counter[str]:
    """So many tables over all games. Returns what was refused, by reason."""
    counted: Counter[str] = Counter()
    moved = _counted("whist_moves_total")
    for number in range(tables):
        counted += await refused_everywhere(sorted(GAMES)[number % len(GAMES)], run.random)
    legal = _counted("whist_moves_total") - moved
    assert legal == counted["NOT_AT_TABLE"], "one stranger asked beside each legal move"
    taken = sum([await refused_take_overs(run.random) for _ in range(tables)])
    run.inject(
        f"{counted.total():,} illegal moves and {taken:,} seats asked for at {tables} tables of {len(GAMES)} games"
    )
    run.held(
        "each refused by its reason, none twice: " + ", ".join(f"{each} {n:,}" for each, n in counted.most_common())
    )
    run.held(
        f"state, journal, events, tallies and seats the same after each; {legal:,.0f} legal moves between them stood"
    )
    return counted


def _counted(metric: str) -> float:
    found = [sample.value for each in REGISTRY.collect() for sample in each.samples if sample.name == metric]
    return sum(found)


@scenario("B30", "illegal moves at every decision of every game")
async def b30(run: Run) -> None:
    counted = await refuse(run, TABLES_SMALL if run.small else TABLES_EACH_RUN)
    # Few tables do not come to where these are due.
    rare = {"BID_BARRED", "MUST_TRUMP"} if run.small else set()
    assert counted.keys() >= EVERYWHERE.union(*REFUSALS.values()) - rare
