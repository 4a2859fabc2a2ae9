"""Friends' tables before the deal and beside the game (P20-P25): open, find, sit, choose, deal, play again."""

from libs.client.sdk.api import Json
from libs.client.sdk.session import Session

PATH = "/v1/friends-tables"


class FriendsTables:
    """Each call answers the table as it then stands, or raises WhistError with a reason and has changed nothing.

    A table is {"table", "stage", "version", "host", "choices", "seats"}; once dealt, `Whist.join` takes its id.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    async def list(self) -> list[Json]:
        """Listed tables that wait or are in play, newest first."""
        tables: list[Json] = (await self._session.request("GET", PATH))["tables"]
        return tables

    async def open(self, **choices: object) -> Json:
        """Open a table and sit down at it as host.

        `choices`: game, options, players, bid_seconds, bots, listed, spectators, open_chat; what is left out is as the
        server has it. Raises GUESTS_OPEN_NO_TABLE, BAD_CHOICE, BAD_OPTIONS, ALREADY_SEATED.
        """
        return await self._session.request("POST", PATH, choices)

    async def get(self, table_id: str) -> Json:
        """One table, listed or not."""
        return await self._session.request("GET", f"{PATH}/{table_id}")

    async def sit(self, table_id: str, seat: int | None = None) -> Json:
        """Sit down or move; None: on any free seat. Raises SEAT_TAKEN, ALREADY_SEATED, BARRED, TABLE_DEALT.

        Once dealt, `take_seat` is what may be done.
        """
        return await self._session.request("POST", f"{PATH}/{table_id}/sit", {"seat": seat})

    async def stand(self, table_id: str) -> Json:
        """Give the seat up before the deal; afterwards `Table.quit`."""
        return await self._session.request("POST", f"{PATH}/{table_id}/stand")

    async def kick(self, table_id: str, account: str) -> Json:
        """Send somebody away for good (the host)."""
        return await self._session.request("POST", f"{PATH}/{table_id}/kick", {"account": account})

    async def choose(self, table_id: str, **choices: object) -> Json:
        """Choose anew, all of it (the host). Raises SEATS_OCCUPIED besides what `open` raises."""
        return await self._session.request("PUT", f"{PATH}/{table_id}/choices", choices)

    async def deal(self, table_id: str) -> Json:
        """Deal (the host): bots take the empty seats."""
        return await self._session.request("POST", f"{PATH}/{table_id}/deal")

    async def close(self, table_id: str) -> Json:
        """Close the table before the deal (the host)."""
        return await self._session.request("DELETE", f"{PATH}/{table_id}")

    async def take_seat(self, table_id: str, seat: int) -> int:
        """Take over a seat of a game in play that was left or that a bot holds (P22); the row in which it happened."""
        answer = await self._session.request("POST", f"{PATH}/{table_id}/take-seat", {"seat": seat})
        return int(answer["seq"])

    async def rematch(self, table_id: str) -> Json:
        """A new table for those who played; whoever asks sits down at it."""
        return await self._session.request("POST", f"{PATH}/{table_id}/rematch")

    async def report(self, table_id: str, account: str, words: str) -> None:
        """Tell the operators of somebody's chat."""
        await self._session.request("POST", f"{PATH}/{table_id}/report", {"account": account, "words": words})
