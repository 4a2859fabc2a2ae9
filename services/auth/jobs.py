"""What auth does by itself: hand over mail, sweep, and look for new keys."""

import asyncio
from contextlib import suppress
from datetime import timedelta

import structlog

from services.auth import metrics
from services.auth.domain.accounts import Letter
from services.auth.ports import Mailer, MailFailed, Registry, Sealer

log = structlog.get_logger()

IDLE_SECONDS = 1.0  # letters queued by other replicas that died are seen this late; our own wake us at once
BATCH_MAX = 8  # letters under way at once
LEASE = timedelta(seconds=60)  # longer than any sending takes
FIRST_PAUSE = timedelta(seconds=2)
LONGEST_PAUSE = timedelta(seconds=60)


class Post:
    """Sends what lies in the queue: each letter at least once, and none after it has expired.

    A code lies in the queue encrypted, for ten minutes at most; a letter's row is deleted when it is handed over.
    """

    def __init__(self, registry: Registry, sealer: Sealer, mailer: Mailer) -> None:
        self._registry = registry
        self._sealer = sealer
        self._mailer = mailer
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """Look now: a letter was queued."""
        self._wake.set()

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            self._wake.clear()
            if not await self.step():
                with suppress(TimeoutError):
                    async with asyncio.timeout(IDLE_SECONDS):
                        await self._wake.wait()

    async def step(self) -> int:
        """Try the letters that are due. Returns how many there were, at most eight."""
        async with self._registry.transaction() as tx:
            dropped = await tx.drop_expired_mail()
            claimed = await tx.claim_mail(BATCH_MAX, LEASE)
            metrics.mails_waiting.set(await tx.mails_waiting())
        if dropped:
            metrics.mails.labels("expired").inc(dropped)
            log.error("mails_expired", count=dropped)
        async with asyncio.TaskGroup() as group:
            for letter, tries in claimed:
                group.create_task(self._send(letter, tries))
        return len(claimed)

    async def _send(self, letter: Letter, tries: int) -> None:
        try:
            code = self._sealer.open(letter.mail_id.bytes, letter.sealed) if letter.sealed else ""
            await self._mailer.send(letter, code)
        except (MailFailed, ValueError) as error:
            metrics.mails.labels("failed").inc()
            log.warning("mail_failed", mail_id=str(letter.mail_id), kind=letter.kind, tries=tries, cause=str(error))
            async with self._registry.transaction() as tx:
                await tx.postpone_mail(letter.mail_id, pause_after(tries))
            return
        metrics.mails.labels("sent").inc()
        async with self._registry.transaction() as tx:
            await tx.delete_mail(letter.mail_id)


def pause_after(tries: int) -> timedelta:
    """How long a letter waits after its `tries`-th failure: 2 s, 4 s … 60 s."""
    return min(FIRST_PAUSE * (1 << min(tries - 1, 6)), LONGEST_PAUSE)


async def sweep(registry: Registry, home_kept: timedelta) -> None:
    """Delete what no request can reach any more. Idempotent; several replicas may run it at once."""
    async with registry.transaction() as tx:
        await tx.sweep(home_kept)
