"""A game's record written to a file (P72): whole or not at all, and never over something that is no file."""

import contextlib
import os
from pathlib import Path

from libs.engine.record.model import Record
from libs.engine.record.plain import dumps


class CannotWrite(Exception):
    """The record cannot be written there; the text says why."""


class RecordFile:
    """Where a record goes; looked at before the game, so that nobody plays for a record that cannot be kept."""

    def __init__(self, path: Path) -> None:
        """Raises CannotWrite for a folder or device, or where no file can be made."""
        self.path = path
        try:
            self._target = path.resolve()
            if self._target.exists() and not self._target.is_file():
                raise CannotWrite(f"{path} is no file to write a record to")
            if not os.access(self._target.parent, os.W_OK | os.X_OK):
                raise CannotWrite(f"{path}: no file can be written in {self._target.parent}")
        except (OSError, ValueError, RuntimeError) as wrong:  # too long a name, a null character, links in a circle
            raise CannotWrite(f"{str(path)[:80]!r} is no name of a file: {wrong}") from None

    def write(self, record: Record) -> None:
        """Put the whole record in the place of what was there. Raises CannotWrite; then nothing has changed."""
        new = self._target.with_name(f".{self._target.name}.{os.getpid()}.new")
        try:
            with new.open("w", encoding="utf-8") as file:
                file.write(dumps(record) + "\n")
                file.flush()
                os.fsync(file.fileno())
            new.replace(self._target)
        except OSError as wrong:
            with contextlib.suppress(OSError):
                new.unlink()
            raise CannotWrite(f"{self.path}: {wrong.strerror or wrong}") from None
