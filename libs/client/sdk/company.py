"""A friends' table as its people see it before the deal and beside the game: seats, choices, chat."""

import asyncio
import uuid
from collections import deque
from collections.abc import Callable

from msgspec import UNSET

from libs.client.sdk.errors import WhistError
from libs.client.sdk.pulse import Pulse
from libs.wire import frames

LINES_MAX = 200  # of chat, the newest; more is nothing that anybody reads again
SAYING_MAX = 4  # lines without an answer; more is a caller that does not wait
ANSWER_S = 10.0  # for a line; then it may be said again

Post = Callable[[frames.ClientFrame], None]


class Company:
    """Kept up to date, and one's seat with it, until `Whist.part` or the table's end.

    `Whist.enter` makes it. Frames go in by `receive`; `resume` says what to send on each new connection.
    """

    def __init__(self, table_id: str, post: Post) -> None:
        self.id = table_id
        self.table: frames.Waiting | None = None
        self.lines: deque[frames.Chat] = deque(maxlen=LINES_MAX)
        self.version = 0  # counts changes, see `changed`
        self._post = post
        self._pulse = Pulse()
        self._failure: WhistError | None = None
        # Lines without an answer, by the key under which the server takes each once.
        self._saying: dict[str, tuple[frames.Say, asyncio.Future[int]]] = {}

    @property
    def live(self) -> bool:
        """Whether there is more to come."""
        return self._failure is None and (self.table is None or self.table.stage != "closed")

    async def changed(self, version: int) -> int:
        """Wait until the table or its chat differs from that `version`; its version then. Raises WhistError."""
        while self.version == version:
            if self._failure is not None:
                raise self._failure
            await self._pulse.wait()
        return self.version

    async def say(self, words: str) -> int:
        """Say a line; its number. Raises WhistError RATE_LIMITED, BAD_TEXT, CHAT_CLOSED, BARRED, SILENCED, …"""
        if len(self._saying) >= SAYING_MAX:
            raise WhistError("TOO_MANY_COMMANDS")
        req = uuid.uuid4().hex
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        line = frames.Say(table=self.id, req=req, words=words)
        self._saying[req] = (line, answer)
        self._post(line)
        try:
            async with asyncio.timeout(ANSWER_S):
                return await answer
        except TimeoutError:
            raise WhistError("UNAVAILABLE") from None
        finally:
            del self._saying[req]

    def resume(self) -> list[frames.ClientFrame]:
        """What a new connection sends: chat from where we are, and each line whose answer has not come."""
        return [self.enter(), *(line for line, _ in self._saying.values())]

    def enter(self) -> frames.Enter:
        """Follow the table's company: chat from where we are."""
        return frames.Enter(table=self.id, since_line=self.lines[-1].line if self.lines else UNSET)

    def receive(self, frame: frames.ServerFrame) -> bool:
        """Apply a frame of this table; False: it is not for us. Never blocks or raises."""
        match frame:
            case frames.Waiting():
                self.table = frame
            case frames.Chat():
                if not self.lines or frame.line > self.lines[-1].line:
                    self.lines.append(frame)
            case frames.Ack() if frame.req in self._saying:
                self._settle(frame.req, frame.seq)
            case frames.Error() if frame.req in self._saying:
                self._settle(frame.req, WhistError(frame.reason, facts=frame.facts))
            case _:
                return False
        self.version += 1
        self._pulse.beat()
        return True

    def fail(self, error: WhistError) -> None:
        """There is no more to come."""
        self._failure = self._failure or error
        self._pulse.beat()

    def _settle(self, req: str, answer: int | WhistError) -> None:
        _, waiting = self._saying[req]
        if waiting.done():
            return
        if isinstance(answer, WhistError):
            waiting.set_exception(answer)
        else:
            waiting.set_result(answer)
