"""The door: connect, queue, join, and the account's own pages."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import httpx

from libs.client.sdk.api import TIMEOUT_S, Api, Json
from libs.client.sdk.backoff import Backoff
from libs.client.sdk.company import Company
from libs.client.sdk.errors import Unreachable, WhistError
from libs.client.sdk.friends import FriendsTables
from libs.client.sdk.session import MemoryStore, Session, TokenStore
from libs.client.sdk.socket import Connection
from libs.client.sdk.table import Result, Table
from libs.wire import frames

AskCode = Callable[[], Awaitable[str]]
AskDrop = Callable[[], Awaitable[bool]]


class Whist:
    """One account at one server; made by `Whist.connect`."""

    def __init__(self, api: Api, session: Session, backoff: Backoff) -> None:
        self._api = api
        self._session = session
        self._backoff = backoff
        self._connection: Connection | None = None
        self.friends = FriendsTables(session)

    @classmethod
    @asynccontextmanager
    async def connect(
        cls,
        url: str,
        *,
        store: TokenStore | None = None,
        email: str = "",
        ask_code: AskCode | None = None,
        ask_drop: AskDrop | None = None,
        locale: str = "en",
        backoff: Backoff | None = None,
    ) -> AsyncIterator["Whist"]:
        """Be somebody there: the stored session, or the account of `email`, or a new guest (P40, P42).

        `ask_code` gives the code that was e-mailed, again while it is wrong and tries are left; "" gives up
        (NOT_SIGNED_IN). A stored guest becomes the account of a new address; for one that has its account `ask_drop`
        says whether the guest may be lost (never without it: GUEST_WOULD_BE_DROPPED). Raises Unreachable, and
        WhistError for what is refused; SIGN_IN_ENDED, once, for an account's stored session that is over.
        """
        waits = backoff or Backoff()
        async with httpx.AsyncClient(timeout=TIMEOUT_S, follow_redirects=False) as http:
            api = Api(url, http, waits)
            session = Session(api, store or MemoryStore())
            if email:
                if ask_code is None:
                    raise ValueError("an e-mailed code needs somebody who reads it: ask_code")
                await session.resume_guest()
                await _sign_in(session, await api.start_login(email, locale), ask_code, ask_drop)
            elif not await session.resume():
                await session.become_guest()
            whist = cls(api, session, waits)
            try:
                yield whist
            finally:
                await whist._close()

    # ---- the account ----

    @property
    def account(self) -> Json:
        """{"account_id", "name", "guest"} as the server last told."""
        return self._session.account

    async def me(self) -> Json:
        """Account, level, experience and balances in one; what a service cannot tell just now is null."""
        return await self._session.request("GET", "/v1/me")

    async def claim_name(self, name: str) -> Json:
        """{"account", "next_change_at"}: a name of one's own (P41).

        Raises WhistError NAME_INVALID, NAME_TAKEN, NAME_TOO_SOON, GUESTS_CLAIM_NO_NAME.
        """
        return await self._session.request("PUT", "/v1/account/name", {"name": name})

    async def sessions(self) -> list[Json]:
        """The devices that are signed in, the last used first."""
        sessions: list[Json] = (await self._session.request("GET", "/v1/sessions"))["sessions"]
        return sessions

    async def end_session(self, session_id: str) -> None:
        """Sign a device out. Raises WhistError SESSION_UNKNOWN."""
        await self._session.request("DELETE", f"/v1/sessions/{quote(session_id, safe='')}")

    async def export(self) -> Json:
        """All that is held of the account (P45)."""
        return await self._session.request("GET", "/v1/account/export")

    async def delete_account(self) -> None:
        """Erase the account for good (P45). Raises WhistError SIGN_IN_NOT_FRESH: connect with `email` again first."""
        await self._session.request("DELETE", "/v1/account")

    async def wallet(self) -> Json:
        """Balances: coins, bars and cups."""
        return await self._session.request("GET", "/v1/wallet")

    async def history(self, limit: int = 50, before: str = "") -> Json:
        """{"movements", "next_before"}: what came and went, newest first, 1 to 200 a page; `before` leads on (P17)."""
        return await self._session.request("GET", f"/v1/wallet/history?limit={limit}&before={quote(before, safe='')}")

    async def rooms(self) -> list[Json]:
        """The rooms, each with its prizes and why it is closed to us, if it is (P2)."""
        rooms: list[Json] = (await self._session.request("GET", "/v1/rooms"))["rooms"]
        return rooms

    async def vip_days(self) -> list[str]:
        """Our two days of each week, "monday" to "sunday", on which VIP rooms open to us; guests have none (P13)."""
        days: list[str] = (await self._session.request("GET", "/v1/rooms"))["vip_days"]
        return days

    async def coins(self) -> int:
        """Coins in the wallet now."""
        return int((await self.wallet())["coins"])

    async def experience(self) -> int:
        """Experience gained in all (P43)."""
        return int((await self.league())["progress"]["experience"])

    async def first_prize(self, room: int) -> int:
        """Coins that the winner gets in that room (P9). Raises WhistError UNKNOWN_ROOM."""
        for each in await self.rooms():
            if each["room"] == room:
                return int(each["prizes"][0])
        raise WhistError("UNKNOWN_ROOM", facts={"room": room})

    async def league(self) -> Json:
        """{"progress", "standing"}: level and experience, and this week's league (P43, P50)."""
        return await self._session.request("GET", "/v1/leagues/me")

    async def group(self, week: str = "") -> Json:
        """{"week", "group_id", "tier", "closed", "members"}: our league group by rank (P53); "" is this week."""
        return await self._session.request("GET", f"/v1/leagues/group?week={quote(week)}")

    async def friends_leaderboard(self, week: str = "", limit: int = 20) -> Json:
        """{"week", "places", "own"}: the week's friends' games (P24); `limit` is 1 to 100."""
        return await self._session.request("GET", f"/v1/leagues/friends?week={quote(week)}&limit={limit}")

    async def upload(self, record: Json) -> Json:
        """{"credited", "experience", "total", "level"}: an offline game's record credited once (P44).

        Raises WhistError BAD_RECORD (its `problem` says why), UNKNOWN_GAME, GUESTS_UPLOAD_NOTHING.
        """
        return await self._session.request("POST", "/v1/offline-games", record)

    async def record(self, game_id: str) -> Json:
        """The record of a finished game that we played (P72). Raises WhistError GAME_RUNNING, NOT_AT_TABLE."""
        return await self._session.request("GET", f"/v1/games/{game_id}")

    async def buy_coffee(self, coffee: str) -> Json:
        """Some cups of "x1.5", "x2", "x3" or "x5" for gold bars; what is there now (P12).

        Raises WhistError INSUFFICIENT_FUNDS, GUESTS_HAVE_NO_COFFEE.
        """
        return await self._session.request("POST", "/v1/wallet/coffee", {"coffee": coffee})

    async def refund_offer(self, game_id: str) -> Json:
        """{"refused", "returns", "takes", "until", "left_today", "loses_first_game"}: what `refund` would do (P14)."""
        return await self._session.request("GET", f"/v1/games/{game_id}/refund")

    async def refund(self, game_id: str) -> Json:
        """Give a finished game back: {"returned", "taken", "assets"}; once refunded, answered as then (P14).

        Raises WhistError with what `refund_offer` says as `refused`.
        """
        return await self._session.request("POST", f"/v1/games/{game_id}/refund")

    async def analysis(self, game_id: str) -> Json:
        """What the coach makes of our own moves in a finished game (P61): docs/analysis.md.

        Raises WhistError ANALYSIS_UNKNOWN, ANALYSIS_NOT_OFFERED (P13), ANALYSIS_NOT_YET.
        """
        return await self._session.request("GET", f"/v1/games/{game_id}/analysis")

    async def story(self, game_id: str, locale: str = "en") -> Json:
        """{"locale", "paragraphs"}: the game told in en, ro or zh (P62). Raises as `analysis` does."""
        return await self._session.request("GET", f"/v1/games/{game_id}/story?locale={quote(locale, safe='')}")

    # ---- play ----

    async def quick_game(
        self,
        room: int = 1,
        mode: str = "quick",
        coffee: str = "",
        told: Callable[[frames.Queue], None] | None = None,
    ) -> Table:
        """Queue, wait for the deal and follow the table; the live one when we sit at one already (P8).

        `told` sees the queue move. Raises WhistError: INSUFFICIENT_FUNDS, LEVEL_TOO_LOW, …, and what a ticket
        was dropped for.
        """
        asked = {"room": room, "mode": mode} | ({"coffee": coffee} if coffee else {})
        await self._session.request("POST", "/v1/queue", asked)
        connection = await self._socket()
        place = await connection.seat(told)
        if place.state != "seated":
            raise WhistError(place.reason or "NOT_QUEUED", facts={"room": room, "mode": mode})
        return await self.join(place.table)

    async def seat(self) -> Json:
        """Where we sit, waiting or playing: {"table", "kind", "stage"}, all null for nowhere. `join` it once dealt."""
        return await self._session.request("GET", "/v1/seat")

    async def cancel_queue(self) -> None:
        """Take the ticket back before the deal, for free. Raises WhistError ALREADY_MATCHED."""
        await self._session.request("DELETE", "/v1/queue")

    async def join(self, table_id: str) -> Table:
        """Follow a table; returns with its first snapshot. Raises WhistError NOT_AT_TABLE, TABLE_UNKNOWN."""
        connection = await self._socket()
        table = connection.follow(table_id)
        try:
            await table.joined()
        except asyncio.CancelledError:
            connection.leave(table)
            raise
        return table

    async def leave(self, table: Table) -> None:
        """Stop following; the seat stays ours, and a bot holds it while we are away (P31)."""
        (await self._socket()).leave(table)

    async def enter(self, table_id: str) -> Company:
        """Be at a friends' table: told of its people and chat, and one's seat kept before the deal."""
        return (await self._socket()).enter(table_id)

    async def part(self, company: Company) -> None:
        """Hear no more of it; a seat before the deal is soon free."""
        (await self._socket()).part(company)

    async def hint(self, table: Table) -> Json:
        """{"turn", "action", "advice"}: what the coach would do, and what each legal move promises (P60).

        `advice` has {"action", "points", "error", "chance"} of every legal move: own points of the round to be expected
        with their standard error, and the chance, 0 to 1, that the bid is made; empty for games other than Romanian
        Whist. Raises WhistError HINTS_NOT_ALLOWED (P13).
        """
        return await self._session.request("POST", f"/v1/tables/{table.id}/hint")

    @property
    def connected(self) -> bool:
        """Whether the socket is up now; it comes back by itself."""
        return self._connection is not None and self._connection.connected

    def seconds_left(self, table: Table) -> float | None:
        """Until the running turn ends, by the server's clock; None when nobody has to act."""
        return self.seconds_until(table.deadline_ms)

    def seconds_until(self, server_ms: int) -> float | None:
        """Until a moment in the server's Unix milliseconds, at least 0; None for no moment (0)."""
        if not server_ms or self._connection is None:
            return None
        return max(0.0, (server_ms - self._connection.server_ms()) / 1000)

    # ---- the connection ----

    async def _socket(self) -> Connection:
        if self._connection is None:
            config = await self._api.config()
            self._connection = Connection(config["socket_url"], self._session, self._backoff.fresh(), self._recover)
            self._connection.start()
        return self._connection

    async def _recover(self, table: Table) -> None:
        """The game ended while we were away: its end is in the record."""
        try:
            table.finish(_result(await self.record(table.id), table.seat))
        except Unreachable:
            return  # the next connection asks again
        except WhistError as error:
            table.fail(error)

    async def _close(self) -> None:
        if self._connection is not None:
            await self._connection.close()


async def _sign_in(session: Session, login_id: str, ask_code: AskCode, ask_drop: AskDrop | None) -> None:
    """One mail is good for several tries (P40): a slip of the finger needs no second one."""
    while True:
        code = await ask_code()
        if not code:
            raise WhistError("NOT_SIGNED_IN")
        try:
            await session.sign_in(login_id, code)
        except WhistError as error:
            if error.code == "GUEST_WOULD_BE_DROPPED" and ask_drop is not None and await ask_drop():
                await session.sign_in(login_id, code, drop_guest=True)
                return
            if error.code != "CODE_WRONG" or not error.facts.get("tries_left"):
                raise
        else:
            return


def _result(record: dict[str, Any], seat: int) -> Result:
    outcome = record["result"]
    if outcome is None:
        return Result(status="voided", seat=seat, secret=record["secret"])
    return Result(
        status="finished",
        seat=seat,
        ranking=tuple(outcome["ranking"]),
        totals=tuple(outcome["totals"]),
        secret=record["secret"],
    )
