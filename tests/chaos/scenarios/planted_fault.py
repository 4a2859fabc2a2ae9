"""B22: an engine that raises at one table. That table is voided and everything returned; no other one notices."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

from prometheus_client import REGISTRY

from libs.chassis.errors import DomainError
from libs.engine.game import GAMES
from libs.engine.record.plain import loads
from libs.wire import frames, link
from services.tables.domain import table as domain
from services.wallet.domain.ledger import AccountId
from tests.chaos.home import home
from tests.chaos.house import ENTRY, MIGRATIONS, PRIZES, House, house
from tests.chaos.logs import logged
from tests.chaos.scenario import Run, scenario
from tests.chaos.scenarios.secrecy import CARD
from tests.services.tables.conftest import Gateway, Player, eventually
from whist.tables.v1 import tables_pb2, tables_pb2_grpc

RULES = Path(__file__).parents[3] / "deploy" / "observability" / "rules" / "turns.yaml"
METRIC = "whist_games_voided_total"
ATTEMPTS = 3
FAULTY, SOUND = "skip", "off"  # the premium tells the tables apart


class Faulty:
    """Romanian Whist with a fault in it: cards of one seat cannot be played where the premium is "skip"."""

    def __init__(self) -> None:
        self._game = GAMES["romanian"]
        self.seat = -1
        self.raised = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def decide(self, state: Any, seat: int, action: Any) -> Any:
        if state.setup.options.premium == FAULTY and seat == self.seat and state.phase == "play":
            self.raised += 1
            raise ValueError(f"no such card among {self._game.hands(state)}")
        return self._game.decide(state, seat, action)


@contextmanager
def planted(game: Faulty) -> Iterator[None]:
    """Every table of Romanian Whist that is opened in the block has the fault."""
    before = GAMES
    setattr(domain, "GAMES", {**before, "romanian": game})  # noqa: B010 - final for everybody but a saboteur
    try:
        yield
    finally:
        setattr(domain, "GAMES", before)  # noqa: B010


@scenario("B22", "the engine raises at one table")
async def b22(run: Run) -> None:
    faulty = Faulty()
    with planted(faulty), logged() as lines:
        async with home() as place, house(place, await place.database(*MIGRATIONS)) as made:
            await _fault_at_one_table(run, made, faulty)
    assert any("game_voided" in line for line in lines) and any("decide_failed" in line for line in lines)
    assert not [line for line in lines if CARD.search(line)], "the fault's message, which quotes hands, is in the log"
    run.held(f"{len(lines)} log lines name the fault by kind and place, none quotes a card of its message")


async def _fault_at_one_table(run: Run, made: House, faulty: Faulty) -> None:
    voided_before = _voided()
    broken, ana = await made.open(FAULTY)
    sound = [await made.open(SOUND) for _ in range(3)]
    gateway = Gateway(made.worker.gateway)
    player = await Player(gateway, broken, ana.bytes, next(made.numbers)).joined()
    others = [await Player(gateway, table, who.bytes, next(made.numbers)).joined() for table, who in sound]
    playing = asyncio.gather(*(other.play_on() for other in others))
    await eventually(lambda: _is(made, ana, (1000 - ENTRY, 0)))
    faulty.seat = player.seen.of(frames.Snapshot)[0].seat
    while await gateway.until(player.may_move) and player.view["phase"] == "bid":
        player.act()
        player.turn = None
    before = await made.query(
        "select body from tables.table_log where table_id = :t order by seq", t=UUID(bytes=broken)
    )
    asked = [player.act(req=f"try-{number}", action=player.legal[0]) for number in range(ATTEMPTS)]
    await gateway.until(lambda: all(player.errors(each) for each in asked))
    assert [error.reason for each in asked for error in player.errors(each)] == ["INTERNAL"] * ATTEMPTS
    assert before == await made.query(
        "select body from tables.table_log where table_id = :t order by seq", t=UUID(bytes=broken)
    )
    run.inject(
        f"the engine raised at {ATTEMPTS} commands of a person at one of four tables, then at the time-out's move"
    )
    run.held(f"each of the {ATTEMPTS} refused alone as INTERNAL, no row written")

    await gateway.until(lambda: player.seen.of(frames.Over))
    [over] = player.seen.of(frames.Over)
    assert faulty.raised == ATTEMPTS + 1
    assert over.status == "voided"
    assert sha256(bytes.fromhex(over.secret)).hexdigest() == player.seen.of(frames.Snapshot)[0].commitment
    await eventually(lambda: _is(made, ana, (1000, 0)))
    assert _voided() == voided_before + 1 and METRIC in RULES.read_text()
    stub = tables_pb2_grpc.TablesServiceStub(made.worker.gateway.channel)
    answer = await made.worker.gateway.call(
        stub.Record, tables_pb2.RecordRequest(table_id=broken, account_id=ana.bytes)
    )
    kept = loads(answer.record_json)
    assert kept.table is not None and (kept.table["status"], kept.table["reason"]) == ("voided", "fault")
    try:
        await made.worker.gateway.call(stub.Locate, tables_pb2.LocateRequest(table_id=broken))
    except DomainError as refusal:
        assert refusal.reason == "TABLE_FINISHED"
    else:
        raise AssertionError("a voided table is still somebody's")
    run.held("the player told voided with the secret that was promised, the record shows how far it went")
    run.held(
        f"the entry of {ENTRY} coins back (1000 again, 0 held), {METRIC} one up, which pages, the table out of play"
    )

    await playing
    results = [other.seen.of(frames.Over)[0].status for other in others]
    assert results == ["finished"] * len(others)
    for _, who in sound:
        await eventually(lambda account=who: _settled(made, account))  # type: ignore[misc]
    rows = await made.query("select count(*) as n from tables.table_log")
    run.held(f"the {len(others)} other tables played to their end and were settled ({rows[0].n} rows in all)")
    await gateway.close()
    assert not [frame for frame in gateway.down if isinstance(frame, link.NotOwner)]


def _voided() -> float:
    return REGISTRY.get_sample_value(METRIC, {"reason": "fault"}) or 0.0


async def _is(made: House, account: AccountId, purse: tuple[int, int]) -> bool:
    return await made.purse(account) == purse


async def _settled(made: House, account: AccountId) -> bool:
    """Paid for, and won or not."""
    coins, held = await made.purse(account)
    return held == 0 and coins in {1000 - ENTRY + prize for prize in (0, *PRIZES)}
