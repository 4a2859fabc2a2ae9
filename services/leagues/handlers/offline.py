"""Games played offline are credited once, by their records (P43, P44, X19)."""

import asyncio
from dataclasses import dataclass
from datetime import date
from typing import Final

from libs.house.calendar import day_id
from libs.house.platform import Platform
from services.leagues.domain.errors import BadRecord, GuestsUploadNothing, RecordTooLarge, UploadsBusy
from services.leagues.domain.offline import OfflineGame, judge
from services.leagues.domain.results import AccountId
from services.leagues.handlers.levels import settle_level
from services.leagues.ports import Books, Ledger

RECORD_BYTES_MAX: Final = 200_000  # a classic game has 53 kB
AT_ONCE: Final = 2  # replays in threads: more would only take the interpreter from each other
WAITING_MAX: Final = 50  # of some 50 ms each, so that the last still keeps its caller's deadline


@dataclass(frozen=True, slots=True, kw_only=True)
class Uploaded:
    """What a record brought, and what the account has now."""

    credited: bool  # False: it had been before
    experience: int
    total: int
    level: int


async def known_online(commitment: bytes, *, ledger: Ledger) -> None:
    """A game that is played here: its record is no offline game. Idempotent."""
    await ledger.keep_commitment(commitment)


class Uploads:
    """Records in, experience out; replays run in threads, two at once."""

    def __init__(self, books: Books, platform: Platform) -> None:
        self._books = books
        self._platform = platform
        self._gate = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0

    async def upload(self, account_id: AccountId, record_json: str, *, guest: bool) -> Uploaded:
        """Credit an offline game to its player. Idempotent by deals and moves however written, and by the secret.

        With other options, or one move changed, it is no other game; nor is one of deals that were known before.

        Raises GuestsUploadNothing, RecordTooLarge, BadRecord, UnknownGame, UploadsBusy; nothing is kept then.
        """
        if guest:
            raise GuestsUploadNothing
        if len(record_json) > RECORD_BYTES_MAX or len(record_json.encode()) > RECORD_BYTES_MAX:
            raise RecordTooLarge(most=RECORD_BYTES_MAX)
        game = await self._judge(record_json)
        async with self._books.transaction() as ledger:
            return await _credit(account_id, game, ledger, self._platform)

    async def _judge(self, record_json: str) -> OfflineGame:
        if self._waiting >= WAITING_MAX:
            raise UploadsBusy
        self._waiting += 1
        try:
            async with self._gate:
                return await asyncio.to_thread(judge, record_json, self._platform.experience)
        finally:
            self._waiting -= 1


async def _credit(account_id: AccountId, game: OfflineGame, ledger: Ledger, platform: Platform) -> Uploaded:
    progress = await ledger.lock(account_id)
    if await ledger.was_online(game.commitment):
        raise BadRecord(problem="PLAYED_ONLINE")
    day = date.fromisoformat(day_id(await ledger.now(), zone=platform.zone))
    number = await ledger.offline_games(account_id, day) + 1
    experience = platform.offline.experience(game.experience, number)
    if not await ledger.insert_offline(account_id, game, day, experience):
        known = await ledger.offline_experience(account_id, game)
        if known is None:
            raise BadRecord(problem="ANOTHERS_GAME")
        return Uploaded(credited=False, experience=known, total=progress.experience, level=progress.level)
    after = await ledger.add_progress(account_id, experience=experience, games=0)
    level = await settle_level(account_id, after, ledger, platform)
    return Uploaded(credited=True, experience=experience, total=after.experience, level=level)
