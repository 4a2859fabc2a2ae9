"""A followed table without any network: what it takes in, what it ignores, what it asks for again."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from libs.client.sdk.errors import TurnPassed, WhistError
from libs.client.sdk.table import Table
from libs.engine.bots import choose
from libs.engine.game import GAMES
from libs.engine.replay import make_draws
from libs.wire import frames
from tests.client.server import SECRET, TABLE, Truth


class Followed:
    """A table with the frames that it wanted to send."""

    def __init__(self) -> None:
        self.truth = Truth()
        self.sent: list[Any] = []
        self.table = Table(TABLE, self.sent.append)
        self.table.receive(self.truth.snapshot())

    def rows(self) -> list[Any]:
        """Play to our first decision, or to the next one; the rows' frames, not yet received."""
        before = self.truth.seq
        if before:
            self.truth.move(self.truth.seat, choose("romanian", self.truth.views[-1]), by="time_out")
        self.truth.advance()
        return [frame for seq in range(before + 1, self.truth.seq + 1) for frame in self.truth.row(seq)]

    def agrees(self) -> bool:
        return bool(plain(self.table.view) == plain(self.truth.views[self.table.seq]))


def plain(view: Any) -> Any:
    return json.loads(json.dumps(view))


@pytest.fixture
async def followed() -> Followed:
    return Followed()


async def test_rows_in_order_give_the_servers_view(followed: Followed) -> None:
    for _ in range(4):
        for frame in followed.rows():
            followed.table.receive(frame)
            assert followed.agrees()
    assert followed.table.seq == followed.truth.seq
    assert followed.sent == []


async def test_a_deal_waits_for_our_own_cards(followed: Followed) -> None:
    deal, own, *_ = followed.rows()
    assert [event["k"] for event in deal.events][-1] == "dealt"
    followed.table.receive(deal)
    assert followed.table.seq == 0
    followed.table.receive(own)
    assert followed.table.seq == 1
    assert len(followed.table.view["hand"]) == 8


@pytest.mark.parametrize("game", sorted(GAMES))
@pytest.mark.parametrize("seat", [0, 1])
async def test_35_rows_with_a_private_part_give_the_servers_view_in_every_game(game: str, seat: int) -> None:
    """Of each row everybody is told one thing, and our seat its own: what it drew unseen in German Whist."""
    rules = GAMES[game]
    players = {"german": 2, "romanian": 4}.get(game, 4)
    options = {"romanian": {"mode": "8-1-8"}}.get(game, {})
    state, seq = rules.new(players, options), 0
    table = Table(TABLE, lambda _: pytest.fail("nothing is missing"))
    seats = [frames.SeatInfo(name=f"P{each}", kind="person", verified=True, holder="person") for each in range(players)]
    table.receive(
        frames.Snapshot(
            table=TABLE, seq=0, epoch=1, seat=seat, game=game, view=plain(rules.view(state, seat)), seats=seats,
            deadline=0, commitment="",
        )
    )  # fmt: skip
    while not rules.over(state) and seq < 300:
        drawn, events = make_draws(rules, state, SECRET)
        if not events:
            actor = rules.to_act(state)
            assert actor is not None
            events = tuple(rules.decide(state, actor, choose(game, rules.view(state, actor))))
            for event in events:
                drawn = rules.evolve(drawn, event)
        state, seq = drawn, seq + 1
        secret = [event for event in events if rules.is_private(event)]
        delta = frames.Delta(
            table=TABLE, seq=seq, epoch=1, events=[plain(rules.project(event, None)) for event in events], by="bot",
            seat=-1, turn=rules.turn(state), to_act=-1, deadline=0, private=True if secret else UNSET,
        )  # fmt: skip
        table.receive(delta)
        if secret:
            own = [plain(rules.project(event, seat)) for event in secret]
            table.receive(frames.Private(table=TABLE, seq=seq, epoch=1, turn=rules.turn(state), events=own))
        assert plain(table.view) == plain(rules.view(state, seat))
    assert seq > 20


async def test_a_deal_without_our_cards_is_asked_for_again(followed: Followed) -> None:
    deal, _, following, *_ = followed.rows()
    followed.table.receive(deal)
    followed.table.receive(following)
    assert followed.sent == [frames.Join(table=TABLE, since=0)]
    assert followed.table.seq == 0


async def test_known_rows_change_nothing(followed: Followed) -> None:
    rows = followed.rows()
    for frame in rows:
        followed.table.receive(frame)
    version, view = followed.table.version, followed.table.view
    for frame in rows[:-1]:
        followed.table.receive(frame)
    assert (followed.table.version, followed.table.view, followed.sent) == (version, view, [])


async def test_p33_rows_of_an_old_owner_are_ignored(followed: Followed) -> None:
    first, own, following, *_ = followed.rows()
    followed.table.receive(first)
    followed.table.receive(own)
    followed.table.receive(frames.Moved(table=TABLE, epoch=2, pause_ms=900))
    followed.table.receive(following)
    assert followed.table.seq == first.seq
    followed.truth.epoch = 1
    followed.table.receive(followed.truth.snapshot())
    assert followed.table.seq == first.seq
    followed.truth.epoch = 2
    followed.table.receive(followed.truth.snapshot())
    assert followed.table.seq == followed.truth.seq
    assert followed.agrees()


async def test_a_missing_row_is_asked_for_and_then_the_whole_table(followed: Followed) -> None:
    deal, own, first, second, third, *_ = [frame for _ in range(2) for frame in followed.rows()]
    for frame in (deal, own, second):
        followed.table.receive(frame)
    assert followed.sent == [frames.Join(table=TABLE, since=1)]
    followed.table.receive(third)
    followed.table.receive(third)
    assert followed.sent[1:] == [frames.Join(table=TABLE)]
    assert followed.table.seq == 1
    followed.table.receive(followed.truth.snapshot())
    assert followed.agrees()
    assert first.seq == 2


async def test_an_event_of_a_newer_release_makes_it_take_the_servers_view(followed: Followed) -> None:
    strange = frames.Delta(
        table=TABLE, seq=1, epoch=1, events=[{"k": "earthquake"}], by="server", seat=-1, turn=0, to_act=-1, deadline=0
    )
    followed.table.receive(strange)
    assert followed.sent == [frames.Join(table=TABLE)]
    assert followed.table.seq == 0


async def test_presence_changes_who_plays_the_seat_and_nothing_else(followed: Followed) -> None:
    seat = followed.table.seat
    followed.table.receive(frames.Presence(table=TABLE, seat=seat, holder="bot", left=False))
    assert followed.table.seats[seat].holder == "bot"
    assert followed.table.seats[seat].name == "Vulpe 42"
    followed.table.receive(frames.Presence(table=TABLE, seat=99, holder="bot", left=False))
    assert followed.agrees()


async def test_23_a_seat_that_is_back_tells_until_when_its_turn_runs(followed: Followed) -> None:
    seat, before = followed.table.seat, followed.table.deadline_ms
    followed.table.receive(frames.Presence(table=TABLE, seat=1 - seat, holder="bot", left=False))
    assert followed.table.deadline_ms == before
    followed.table.receive(frames.Presence(table=TABLE, seat=seat, holder="person", left=False, deadline=before + 7))
    assert followed.table.deadline_ms == before + 7 and not followed.table.away


async def test_p32_the_view_moves_only_with_the_servers_row(followed: Followed) -> None:
    for frame in followed.rows():
        followed.table.receive(frame)
    decision = await anext(followed.table)
    before = followed.table.view
    taking = asyncio.create_task(decision.take(decision.legal[0]))
    await asyncio.sleep(0)
    (act,) = followed.sent
    assert (act.turn, act.action) == (decision.turn, decision.legal[0])
    followed.table.receive(frames.Ack(table=TABLE, req=act.req, seq=followed.table.seq + 1))
    await asyncio.sleep(0)
    assert followed.table.view is before
    assert not taking.done()
    list(followed.truth.answer(act))
    for frame in followed.truth.row(followed.table.seq + 1):
        followed.table.receive(frame)
    await taking
    assert followed.agrees()


async def test_a_refused_move_raises_changes_nothing_and_is_offered_again(followed: Followed) -> None:
    for frame in followed.rows():
        followed.table.receive(frame)
    decision = await anext(followed.table)
    taking = asyncio.create_task(decision.take({"bid": 99}))
    await asyncio.sleep(0)
    before = (followed.table.view, followed.table.seq)
    for answer in followed.truth.answer(followed.sent[0]):
        followed.table.receive(answer)
    with pytest.raises(WhistError) as refused:
        await taking
    assert refused.value.code == "BID_OUT_OF_RANGE"
    assert refused.value.facts == {"least": 0, "most": 8}
    assert not isinstance(refused.value, TurnPassed)
    assert (followed.table.view, followed.table.seq) == before
    assert (await anext(followed.table)).turn == decision.turn


async def test_p30_a_decision_that_the_server_made_is_a_turn_passed(followed: Followed) -> None:
    for frame in followed.rows():
        followed.table.receive(frame)
    decision = await anext(followed.table)
    unseen = followed.rows()
    taking = asyncio.create_task(decision.take(decision.legal[0]))
    await asyncio.sleep(0)
    for answer in followed.truth.answer(followed.sent[0]):
        followed.table.receive(answer)
    with pytest.raises(TurnPassed):
        await taking
    for frame in unseen:
        followed.table.receive(frame)
    assert (await anext(followed.table)).turn > decision.turn


async def test_a_new_connection_repeats_an_unanswered_command_with_its_req(followed: Followed) -> None:
    for frame in followed.rows():
        followed.table.receive(frame)
    decision = await anext(followed.table)
    taking = asyncio.create_task(decision.take(decision.legal[0]))
    await asyncio.sleep(0)
    (act,) = followed.sent
    assert followed.table.resume() == [frames.Join(table=TABLE, since=followed.table.seq), act]
    followed.table.fail(WhistError("SUPERSEDED"))
    with pytest.raises(WhistError, match="SUPERSEDED"):
        await taking
    with pytest.raises(WhistError, match="SUPERSEDED"):
        await anext(followed.table)


async def test_commands_without_an_answer_are_bounded(followed: Followed) -> None:
    for frame in followed.rows():
        followed.table.receive(frame)
    waiting = [asyncio.create_task(followed.table.act(0, {"bid": 0})) for _ in range(8)]
    await asyncio.sleep(0)
    with pytest.raises(WhistError, match="TOO_MANY_COMMANDS"):
        await followed.table.act(0, {"bid": 0})
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert followed.table.resume() == [frames.Join(table=TABLE, since=followed.table.seq)]


async def test_the_end_known_early_waits_for_the_rows_that_lead_to_it(followed: Followed) -> None:
    rows: list[Any] = []
    while followed.truth.state.ranking is None:
        rows += followed.rows()
    over = frames.Over(table=TABLE, seq=followed.truth.seq, epoch=1, status="finished", secret="00")
    followed.table.receive(over)
    assert followed.table.result is None
    assert followed.sent == [frames.Join(table=TABLE, since=0)]
    for frame in rows:
        followed.table.receive(frame)
    assert followed.table.result is not None
    assert followed.table.result.ranking == followed.truth.state.ranking
    assert followed.table.result.place == followed.truth.place()
    assert [decision async for decision in followed.table] == []
    with pytest.raises(WhistError, match="GAME_OVER"):
        await followed.table.act(0, {"bid": 0})


async def test_a_voided_game_ends_without_a_ranking(followed: Followed) -> None:
    followed.table.receive(frames.Over(table=TABLE, seq=0, epoch=1, status="voided", secret="00"))
    assert followed.table.result is not None
    assert (followed.table.result.status, followed.table.result.place) == ("voided", None)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_however_rows_are_lost_doubled_or_held_back_the_view_is_the_servers(data: st.DataObject) -> None:
    async def run() -> None:
        followed = Followed()
        rows = [frame for _ in range(3) for frame in followed.rows()]
        for frame in rows:
            times = data.draw(st.sampled_from([0, 1, 1, 1, 1, 2]))
            late = data.draw(st.sampled_from([None, None, None, *rows[:8]]))
            for each in [frame] * times + ([late] if late is not None else []):
                followed.table.receive(each)
                assert followed.agrees()
            answered: bool = data.draw(st.booleans())
            if followed.sent and answered:
                join = followed.sent.pop(0)
                if isinstance(join.since, int):
                    for seq in range(join.since + 1, frame.seq + 1):
                        for each in followed.truth.row(seq):
                            followed.table.receive(each)
                            assert followed.agrees()
                else:
                    followed.table.receive(followed.truth.snapshot())
                assert followed.agrees()
        for join in followed.table.resume():
            assert isinstance(join, frames.Join)
            since = followed.table.seq if isinstance(join.since, int) else 0
            for seq in range(since + 1, followed.truth.seq + 1):
                for each in followed.truth.row(seq):
                    followed.table.receive(each)
        assert followed.table.seq == followed.truth.seq
        assert followed.agrees()

    asyncio.run(run())
