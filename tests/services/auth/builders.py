"""Requests as clients make them, and a desk in front of a real database."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from email import message_from_bytes
from email.message import Message
from email.policy import default as modern
from itertools import count
from typing import TypeVar
from uuid import UUID

import sqlalchemy as sa

from libs.chassis.db.database import Database, Store
from libs.chassis.entropy import Entropy
from libs.chassis.errors import DomainError
from services.auth.domain.accounts import Letter, Login, SignedIn
from services.auth.handlers.desk import Desk
from services.auth.handlers.guests import CreateGuest, create_guest
from services.auth.handlers.sessions import logout, refresh
from services.auth.handlers.signing_in import FinishLogin, StartLogin, finish_login, start_login
from services.auth.jobs import Post
from services.auth.ports import MailFailed
from services.auth.storage.register import AuthTransaction
from whist.auth.v1.events_pb2 import AuthEvent

T = TypeVar("T")

TABLES = (
    "account",
    "login",
    "session",
    "spent_token",
    "attempt_window",
    "home_network",
    "mail_queue",
    "claimed_name",
    "event",
    "outbox",
)
STAMPS = {
    "account": ("created_at", "account_since", "named_at"),
    "login": ("asked_at", "expires_at"),
    "session": ("created_at", "used_at", "expires_at"),
    "attempt_window": ("last_at",),
    "home_network": ("last_at",),
    "mail_queue": ("next_try_at", "expires_at"),
    "claimed_name": ("free_at",),
}
_networks = count(1)


@dataclass
class Mailbox:
    """A `Mailer` that keeps what it was given; `broken` makes it fail."""

    letters: list[tuple[Letter, str]] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    broken: bool = False

    async def send(self, letter: Letter, code: str) -> None:
        if self.broken:
            raise MailFailed("Broken")
        self.letters.append((letter, code))
        self.arrived.set()


@dataclass
class SmtpServer:
    """As much of RFC 5321 as takes a message; `refusing` answers RCPT with a passing error."""

    messages: list[Message] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    refusing: bool = False
    port: int = 0

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 test\r\n")
        while line := await reader.readline():
            match line[:4].upper():
                case b"RCPT" if self.refusing:
                    writer.write(b"451 4.7.1 ana@example.com: try later\r\n")
                case b"DATA":
                    writer.write(b"354 go on\r\n")
                    content = await reader.readuntil(b"\r\n.\r\n")
                    self.messages.append(message_from_bytes(content.removesuffix(b".\r\n"), policy=modern))
                    self.arrived.set()
                    writer.write(b"250 taken\r\n")
                case b"QUIT":
                    writer.write(b"221 bye\r\n")
                    break
                case _:
                    writer.write(b"250 fine\r\n")
            await writer.drain()
        writer.close()


@asynccontextmanager
async def smtp_server() -> AsyncIterator[SmtpServer]:
    """Listens inside the block, on a port of its own."""
    server = SmtpServer()
    listener = await asyncio.start_server(server.talk, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    async with listener:
        yield server


@dataclass
class Office:
    """Everything a test of auth needs."""

    desk: Desk
    store: Store[AuthTransaction]
    database: Database
    mailbox: Mailbox
    post: Post
    entropy: Entropy

    async def ask(
        self, email: str, network: str = "", *, locale: str = "en", request_id: bytes = b"", desk: Desk | None = None
    ) -> Login:
        command = StartLogin(email=email, network=network or fresh_network(), locale=locale, request_id=request_id)
        return await start_login(command, desk=desk or self.desk)

    async def ask_code(self, email: str, network: str = "") -> tuple[Login, str]:
        """A login and the code that the mail brought."""
        login = await self.ask(email, network)
        await self.post.step()
        return login, self.mailbox.letters[-1][1]

    async def finish(
        self,
        login_id: bytes,
        code: str,
        network: str = "",
        *,
        request_id: bytes = b"",
        device: str = "Phone",
        guest: SignedIn | None = None,
        drop_guest: bool = False,
    ) -> SignedIn:
        command = FinishLogin(
            login_id=login_id,
            code=code,
            device=device,
            network=network or fresh_network(),
            request_id=request_id,
            guest_id=guest.account.account_id.bytes if guest else b"",
            drop_guest=drop_guest,
        )
        return await finish_login(command, desk=self.desk)

    async def sign_in(self, email: str, network: str = "") -> SignedIn:
        login, code = await self.ask_code(email, network)
        return await self.finish(login.login_id, code, network)

    async def guest(
        self, request_id: bytes = b"", network: str = "", *, device: str = "", desk: Desk | None = None
    ) -> SignedIn:
        command = CreateGuest(
            device=device, network=network or fresh_network(), request_id=request_id or self.entropy.bytes(16)
        )
        return await create_guest(command, desk=desk or self.desk)

    async def refresh(self, token: str) -> SignedIn:
        return await refresh(token, desk=self.desk)

    async def logout(self, token: str) -> None:
        await logout(token, desk=self.desk)

    async def age(self, passed: timedelta) -> None:
        """Let so much time have passed since everything that has happened."""
        async with self.database.begin() as connection:
            for table, columns in STAMPS.items():
                changes = ", ".join(f"{column} = {column} - cast(:passed as interval)" for column in columns)
                if table == "account":
                    changes += ", seen_on = cast(seen_on - cast(:passed as interval) as date)"
                await connection.execute(sa.text(f"update auth.{table} set {changes}"), {"passed": passed})
            await connection.execute(
                sa.text(
                    "update auth.attempt_window set "
                    "moments = array(select m - cast(:passed as interval) from unnest(moments) m)"
                ),
                {"passed": passed},
            )

    async def clear(self) -> None:
        async with self.database.begin() as connection:
            await connection.execute(sa.text(f"truncate {', '.join(f'auth.{table}' for table in TABLES)}"))
        self.mailbox.letters.clear()
        self.mailbox.broken = False

    async def events(self, kind: str) -> list[AuthEvent]:
        """Events of one kind, oldest first."""
        async with self.database.begin() as connection:
            rows = await connection.execute(
                sa.text("select payload from auth.event where type = :kind order by occurred_at, event_id"),
                {"kind": kind},
            )
            return [AuthEvent.FromString(bytes(payload)) for payload in rows.scalars()]

    async def count(self, table: str, where: str = "true") -> int:
        async with self.database.begin() as connection:
            return int((await connection.execute(sa.text(f"select count(*) from auth.{table} where {where}"))).scalar())  # type: ignore[arg-type]

    async def dump(self, table: str) -> str:
        """All rows of a table as text, bytes in hex and as they read."""
        async with self.database.begin() as connection:
            rows = (await connection.execute(sa.text(f"select * from auth.{table}"))).all()
        values = [bytes(value) if isinstance(value, memoryview) else value for row in rows for value in row]
        readable = [
            value.decode("latin-1") + value.hex() if isinstance(value, bytes) else str(value) for value in values
        ]
        return "\n".join(readable)


async def outcomes(attempts: Sequence[Awaitable[T]]) -> tuple[list[T], list[str]]:
    """Run all at once: (answers, reasons of refusals). What is no refusal is raised."""
    results = await asyncio.gather(*attempts, return_exceptions=True)
    answers: list[T] = []
    reasons: list[str] = []
    for result in results:
        if isinstance(result, DomainError):
            reasons.append(result.reason)
        elif isinstance(result, BaseException):
            raise result
        else:
            answers.append(result)
    return answers, reasons


def fresh_network() -> str:
    """An address of a /24 that nothing else in this run uses."""
    number = next(_networks)
    return f"10.{number // 256 % 256}.{number % 256}.7"


def wrong(code: str, n: int = 1) -> str:
    """The n-th code that is not `code`; n from 1."""
    return f"{(int(code) + n) % 10**8:08}"


def session_of(event: AuthEvent) -> UUID:
    return UUID(bytes=event.session_revoked.session_id)


def is_suggested(name: str) -> bool:
    return re.fullmatch(r"[A-ZȘȚÂ][a-zăâîșț]+ [1-9][0-9]{0,3}", name) is not None and 3 <= len(name) <= 16
