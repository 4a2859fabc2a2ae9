"""P15 over the public API: a classic game is judged by the coach, and the wallet pays for playing well."""

from typing import Any

from libs.client import Table, TurnPassed
from libs.house.platform import load
from libs.search import choose, compiled, grade
from services.coach.domain.study import runs_of_seven
from tests.e2e.conftest import Embedded
from tests.e2e.story import arrives
from tests.e2e.test_friends import signed_in

SAMPLES = 1000 if compiled() else 10  # as the coach takes them


async def test_p15_a_classic_game_pays_by_the_grade_of_ones_own_moves(product: Embedded) -> None:
    """The reward is that of the grade and runs which the game's record gives; every event comes twice."""
    async with signed_in(product) as whist:
        table = await whist.quick_game(room=1, mode="classic")
        await play_keenly(table)
        record = await whist.record(table.id)
        facts = record["result"]["seats"][table.seat]
        runs = runs_of_seven((cards, bid == taken) for cards, bid, taken, _ in facts)
        due = load().classic_rewards
        reward = due.of(grade(record, table.seat, SAMPLES).mark or "")
        assert reward is not None, "keen play is worth a grade that pays"

        async def paid() -> dict[str, int]:
            moved = await whist._session.request("GET", "/v1/wallet/history?limit=100")
            ours = [each for each in moved["movements"] if each["table"] == table.id]
            return {each["asset"]: each["amount"] for each in ours if each["reason"] == "classic_reward"}

        bars = reward.bars + due.run_bars * runs
        assert await arrives(paid, bool) == {"bar": bars, f"cup_{reward.cup.value}": 1}


async def play_keenly(table: Table) -> None:
    """Well enough for a grade that pays."""
    async for decision in table:
        action: dict[str, Any] = choose(table.game, decision.view, "keen", seed=decision.turn)
        try:
            await decision.take(action)
        except TurnPassed:
            continue
