"""The operators' API (P82): another listener than players', with a token each. Every act has a reason and a key."""

import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx

from libs.client.sdk.api import Api, Json
from libs.client.sdk.backoff import Backoff

TIMEOUT_S = 330.0  # the proof of a large ledger takes minutes


class OperatorsDesk:
    """One operator at one server; made by `OperatorsDesk.connect`.

    `key` of an act: who asks again after a lost answer gives the same one, and the act is done once.
    """

    def __init__(self, api: Api, token: str) -> None:
        self._api = api
        self._token = token

    @classmethod
    @asynccontextmanager
    async def connect(cls, url: str, token: str, *, backoff: Backoff | None = None) -> AsyncIterator["OperatorsDesk"]:
        """Nothing is asked yet: a wrong token is refused by the first request, as NOT_AN_OPERATOR."""
        async with httpx.AsyncClient(timeout=TIMEOUT_S, follow_redirects=False) as http:
            yield cls(Api(url, http, backoff or Backoff()), token)

    async def accounts(self, words: str, reason: str, key: str = "") -> list[Json]:
        """Accounts by id, name or address, at most twenty. Who looked is written down."""
        found = await self._act("/accounts/search", {"words": words}, reason, key)
        accounts: list[Json] = found["accounts"]
        return accounts

    async def suspend(self, account: str, reason: str, key: str = "") -> None:
        """Shut the account out. Raises WhistError ACCOUNT_UNKNOWN."""
        await self._act(f"/accounts/{account}/suspend", {}, reason, key)

    async def reinstate(self, account: str, reason: str, key: str = "") -> None:
        """Let it in again. Raises WhistError ACCOUNT_UNKNOWN."""
        await self._act(f"/accounts/{account}/reinstate", {}, reason, key)

    async def silence(self, account: str, minutes: int, reason: str, key: str = "") -> str | None:
        """Let nobody hear its chat for so many minutes, 0 to lift it; until when."""
        told = await self._act(f"/accounts/{account}/silence", {"minutes": minutes}, reason, key)
        until: str | None = told["until"]
        return until

    async def wallet(self, account: str) -> Json:
        """What it owns."""
        return await self._get(f"/accounts/{account}/wallet")

    async def correct(
        self, account: str, reason: str, *, coins: int = 0, bars: int = 0, cups: Mapping[str, int] | None = None,
        key: str = "",
    ) -> Json:  # fmt: skip
        """Correct its balance by signed amounts; what it owns now. Raises WhistError INSUFFICIENT_FUNDS."""
        body = {"coins": coins, "bars": bars, "cups": dict(cups or {})}
        assets: Json = (await self._act(f"/accounts/{account}/correct", body, reason, key))["assets"]
        return assets

    async def tables(self, *, account: str = "", live: bool = False, limit: int = 100) -> list[Json]:
        """Tables as they stand, newest first; never a card."""
        about = {"account": account, "live": "true" if live else "", "limit": str(limit)}
        tables: list[Json] = (await self._get("/tables", about))["tables"]
        return tables

    async def void(self, table: str, reason: str, key: str = "") -> bool:
        """Void a game, live or finished; whether it had finished. Raises WhistError TABLE_UNKNOWN, GAME_OVER."""
        return bool((await self._act(f"/tables/{table}/void", {}, reason, key))["had_finished"])

    async def close(self, table: str, reason: str, key: str = "") -> None:
        """Close a friends' table that waits. Raises WhistError TABLE_UNKNOWN, TABLE_DEALT."""
        await self._act(f"/tables/{table}/close", {}, reason, key)

    async def reports(self, *, account: str = "", limit: int = 20) -> list[Json]:
        """Complaints about chatters, newest first."""
        reports: list[Json] = (await self._get("/reports", {"account": account, "limit": str(limit)}))["reports"]
        return reports

    async def audit(self, limit: int = 100) -> list[Json]:
        """Who did what, newest first."""
        lines: list[Json] = (await self._get("/audit", {"limit": str(limit)}))["lines"]
        return lines

    async def ledger_check(self) -> Json:
        """{"ok", "differences", "unproved"}: the proof of the ledger (P17)."""
        return await self._api.request("POST", "/admin/v1/ledger-check", token=self._token)

    async def _get(self, path: str, about: Mapping[str, str] | None = None) -> Json:
        asked = httpx.QueryParams({name: value for name, value in (about or {}).items() if value})
        return await self._api.request("GET", f"/admin/v1{path}" + (f"?{asked}" if asked else ""), token=self._token)

    async def _act(self, path: str, body: Json, reason: str, key: str) -> Json:
        return await self._api.request(
            "POST", f"/admin/v1{path}", token=self._token, body=body | {"reason": reason}, key=key or uuid.uuid4().hex
        )
