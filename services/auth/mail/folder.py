"""Mail as files, for one machine without a mail server."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from services.auth.domain.accounts import Letter
from services.auth.mail.letters import message_of
from services.auth.ports import MailFailed


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderMailer:
    """One ``<mail_id>.eml`` a letter, so that names sort by time; sending again writes the same file."""

    folder: Path
    sender: str
    # How long a code is good, for the letter to say.
    code_minutes: int

    async def send(self, letter: Letter, code: str) -> None:
        """Raises MailFailed. The file is there whole or not at all."""
        content = message_of(letter, code, self.sender, self.code_minutes).as_bytes()
        try:
            await asyncio.to_thread(self._write, f"{letter.mail_id}.eml", content)
        except OSError as error:
            raise MailFailed(type(error).__name__) from None

    def _write(self, name: str, content: bytes) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self.folder / f".{name}"
        draft.write_bytes(content)
        draft.replace(self.folder / name)
