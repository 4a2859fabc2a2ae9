"""Mail by SMTP."""

from dataclasses import dataclass, field
from typing import Literal

import aiosmtplib

from services.auth.domain.accounts import Letter
from services.auth.mail.letters import message_of
from services.auth.ports import MailFailed

SEND_SECONDS = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpMailer:
    """One connection a letter: sign-ins are rare, and a kept connection is one more thing that dies."""

    host: str
    port: int
    security: Literal["tls", "starttls", "none"]
    user: str = ""
    password: str = field(default="", repr=False)
    sender: str
    # How long a code is good, for the letter to say.
    code_minutes: int

    async def send(self, letter: Letter, code: str) -> None:
        """Raises MailFailed. The server sees the same Message-ID when it is sent again."""
        try:
            await aiosmtplib.send(
                message_of(letter, code, self.sender, self.code_minutes),
                hostname=self.host,
                port=self.port,
                username=self.user or None,
                password=self.password or None,
                use_tls=self.security == "tls",
                start_tls=self.security == "starttls",
                timeout=SEND_SECONDS,
            )
        except (aiosmtplib.SMTPException, OSError, TimeoutError) as error:
            # The server's words may repeat the address: only the kind of failure is passed on.
            raise MailFailed(type(error).__name__) from None
