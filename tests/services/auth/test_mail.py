"""Letters leave after the commit, at least once, and never when they are worth nothing any more."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.message import Message
from email.policy import default as modern
from pathlib import Path
from uuid import UUID

import pytest

from services.auth.domain.accounts import Letter, LetterKind
from services.auth.domain.addresses import LOCALES
from services.auth.jobs import pause_after
from services.auth.mail.folder import FolderMailer
from services.auth.mail.letters import message_of
from services.auth.mail.smtp import SmtpMailer
from services.auth.ports import Mailer, MailFailed
from tests.services.auth.builders import Mailbox, Office, smtp_server

SENDER = "Whist <noreply@whist.example>"


def letter(kind: LetterKind = LetterKind.CODE, locale: str = "en") -> Letter:
    return Letter(
        mail_id=UUID(int=7),
        kind=kind,
        address="ana@example.com",
        locale=locale,
        sealed=b"",
        expires_at=datetime(2026, 11, 30, tzinfo=UTC),
    )


@dataclass
class Route:
    """A mailer, what has come out at its other end, and how to break it."""

    mailer: Mailer
    arrived: Callable[[], list[Message]]
    break_it: Callable[[], None]


@asynccontextmanager
async def by_folder(folder: Path) -> AsyncIterator[Route]:
    def break_it() -> None:
        for path in folder.glob("*"):
            path.unlink()
        folder.rmdir()
        folder.write_text("in the way")

    def arrived() -> list[Message]:
        return [message_from_bytes(path.read_bytes(), policy=modern) for path in sorted(folder.glob("*.eml"))]

    folder.mkdir()
    yield Route(FolderMailer(folder=folder, sender=SENDER, code_minutes=10), arrived, break_it)


@asynccontextmanager
async def by_smtp(_folder: Path) -> AsyncIterator[Route]:
    async with smtp_server() as server:
        mailer = SmtpMailer(host="127.0.0.1", port=server.port, security="none", sender=SENDER, code_minutes=10)
        yield Route(mailer, lambda: list(server.messages), lambda: setattr(server, "refusing", True))


@asynccontextmanager
async def by_fake(_folder: Path) -> AsyncIterator[Route]:
    mailbox = Mailbox()

    def arrived() -> list[Message]:
        return [message_of(sent, code, SENDER, 10) for sent, code in mailbox.letters]

    yield Route(mailbox, arrived, lambda: setattr(mailbox, "broken", True))


ROUTES: tuple[Callable[[Path], AbstractAsyncContextManager[Route]], ...] = (by_folder, by_smtp, by_fake)


@pytest.mark.parametrize("route", ROUTES)
async def test_every_mailer_hands_over_the_letter_or_says_that_it_failed(
    route: Callable[[Path], AbstractAsyncContextManager[Route]], tmp_path: Path
) -> None:
    async with route(tmp_path / "mail") as way:
        await way.mailer.send(letter(), "01234567")

        (message,) = way.arrived()
        assert message["To"] == "ana@example.com"
        assert message["From"] == SENDER
        assert message["Subject"] == "Whist: your sign-in code"
        assert "01234567" in str(message.get_payload())

        way.break_it()
        with pytest.raises(MailFailed) as failure:
            await way.mailer.send(letter(), "01234567")
        assert "ana" not in str(failure.value)
        assert failure.value.__cause__ is None


async def test_a_server_that_is_not_there_is_a_failure() -> None:
    with pytest.raises(MailFailed):
        await SmtpMailer(host="127.0.0.1", port=1, security="none", sender=SENDER, code_minutes=10).send(
            letter(), "01234567"
        )


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("kind", LetterKind)
def test_letters_read_well_in_every_language(kind: LetterKind, locale: str) -> None:
    message = message_of(letter(kind, locale), "01234567", SENDER, 10)
    body = message.get_content()

    assert str(message["Subject"]).strip()
    assert "\n" not in str(message["Subject"])
    assert ("01234567" in body) == (kind is LetterKind.CODE)
    assert "{" not in body
    assert "ana@" not in body
    assert str(message["Message-ID"]).endswith("@whist.example>")


@pytest.mark.parametrize(
    ("asked", "used"), [("ro-RO", "ro"), ("zh_Hans", "zh"), ("ZH", "zh"), ("fr", "en"), ("", "en"), ("../x", "en")]
)
async def test_the_letter_is_in_the_askers_language_or_in_english(office: Office, asked: str, used: str) -> None:
    await office.ask("ana@example.com", locale=asked)
    await office.post.step()

    assert office.mailbox.letters[0][0].locale == used


async def test_a_letter_is_sent_once_and_its_row_deleted(office: Office) -> None:
    await office.ask("ana@example.com")

    assert await office.post.step() == 1
    assert await office.post.step() == 0
    assert len(office.mailbox.letters) == 1
    assert await office.count("mail_queue") == 0


async def test_two_replicas_send_each_letter_once(office: Office) -> None:
    for n in range(12):
        await office.ask(f"player{n}@example.com")

    await asyncio.gather(*(office.post.step() for _ in range(4)))

    addresses = [sent.address for sent, _ in office.mailbox.letters]
    assert sorted(addresses) == sorted({f"player{n}@example.com" for n in range(12)})


async def test_a_letter_that_failed_is_tried_again_after_a_pause(office: Office) -> None:
    await office.ask("ana@example.com")
    office.mailbox.broken = True
    await office.post.step()
    office.mailbox.broken = False

    assert await office.post.step() == 0
    await office.age(timedelta(seconds=3))
    assert await office.post.step() == 1
    assert len(office.mailbox.letters) == 1


def test_pauses_double_from_two_seconds_to_a_minute() -> None:
    assert [pause_after(tries).total_seconds() for tries in (1, 2, 5, 6, 100)] == [2, 4, 32, 60, 60]


async def test_a_letter_whose_sender_died_is_sent_by_another_after_the_lease(office: Office) -> None:
    await office.ask("ana@example.com")
    async with office.store.transaction() as tx:
        assert len(await tx.claim_mail(8, timedelta(seconds=60))) == 1

    assert await office.post.step() == 0
    await office.age(timedelta(seconds=61))
    assert await office.post.step() == 1


async def test_a_code_that_has_expired_is_not_sent(office: Office) -> None:
    await office.ask("ana@example.com")
    await office.age(timedelta(minutes=10, seconds=1))

    assert await office.post.step() == 0
    assert office.mailbox.letters == []
    assert await office.count("mail_queue") == 0


async def test_a_letter_that_cannot_be_opened_waits_and_holds_nobody_up(office: Office) -> None:
    await office.ask("ana@example.com")
    await office.ask("ion@example.com")
    async with office.store.transaction() as tx:
        (spoilt, _), *_ = await tx.claim_mail(1, timedelta(0))
        await tx.delete_mail(spoilt.mail_id)
        await tx.post(
            Letter(
                mail_id=UUID(int=9),
                kind=spoilt.kind,
                address=spoilt.address,
                locale=spoilt.locale,
                sealed=spoilt.sealed,
                expires_at=spoilt.expires_at,
            )
        )

    await office.post.step()

    assert len(office.mailbox.letters) == 1
    assert await office.count("mail_queue") == 1


async def test_a_queued_letter_wakes_the_post(office: Office) -> None:
    running = asyncio.create_task(office.post.run())
    try:
        async with asyncio.timeout(30):
            for n in range(3):
                office.mailbox.arrived.clear()
                await office.ask(f"player{n}@example.com")
                await office.mailbox.arrived.wait()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
