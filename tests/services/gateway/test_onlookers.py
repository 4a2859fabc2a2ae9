"""While moves are slow to be answered, players who only look on are told of some rows in one write."""

from libs.wire import frames
from libs.wire.frames import CloseCode
from services.gateway.socket.onlookers import LONGEST_SECONDS, Onlookers
from tests.services.gateway.world import Stage


def slow(stage: Stage) -> None:
    """As if every move had taken a second lately: frames may wait their longest."""
    for _ in range(400):
        stage.gateway.hub.tables.onlookers.answered(1.0)
    assert stage.gateway.hub.tables.onlookers.seconds == LONGEST_SECONDS


def test_frames_wait_only_while_moves_take_longer_than_usual() -> None:
    onlookers = Onlookers()
    for _ in range(1000):
        onlookers.answered(0.0035)
    assert onlookers.seconds == 0
    for _ in range(1000):
        onlookers.answered(0.02)
    assert 0.069 < onlookers.seconds < 0.0701
    for _ in range(3):
        onlookers.sweep()  # three seconds without a move
    assert onlookers.seconds == 0


async def test_p32_who_moved_is_told_at_once_and_an_onlooker_before_anything_else(stage: Stage) -> None:
    slow(stage)
    async with stage.player() as ana, stage.player(binary=True) as bo:
        await ana.joined()
        await bo.joined()
        for number in range(3):
            slow(stage)
            await ana.act(f"a{number}")
            assert (await ana.hear(frames.Delta)).req == f"a{number}"
            await ana.hear(frames.Private)
        await bo.say(frames.Ping(n=7))
        assert [(await bo.hear(frames.Delta)).seq for _ in range(3)] == [0, 1, 2]
        assert (await bo.hear(frames.Pong)).n == 7


async def test_an_onlooker_is_told_though_nothing_follows(stage: Stage) -> None:
    async with stage.player() as ana, stage.player() as bo:
        await ana.joined()
        await bo.joined()
        slow(stage)
        await ana.act("a0")
        assert (await bo.hear(frames.Delta)).req == "a0"


async def test_what_is_held_precedes_the_close_and_a_socket_that_has_gone_is_no_harm(stage: Stage) -> None:
    async with stage.player() as ana, stage.player() as bo, stage.player() as cora:
        for player in (ana, bo, cora):
            await player.joined()
        slow(stage)
        await ana.act("a0")
        await ana.hear(frames.Delta)
        await cora.socket.close()
        await stage.gateway.hub.drain()
        assert (await bo.hear(frames.Delta)).req == "a0"
        assert await bo.closed() == CloseCode.RESTART
