"""What a game played here shows: as online, and the secret at its end (P70)."""

import json
from typing import Any

from libs.client.cli import screen
from libs.client.cli.offline.table import LocalTable
from libs.client.cli.play import CLEAR, JsonFront, ScreenFront, Seated


class LocalScreen(ScreenFront):
    """For a person: as online, and the secret at the end (P70)."""

    def end(self, table: Seated) -> None:
        assert isinstance(table, LocalTable) and table.result is not None
        self._forget()
        result, names = table.result, screen.names_of(table.seats)
        if result.status == "finished":
            shown = screen.ranking(result.ranking, result.totals, names, result.seat, result.places)
            self._write((CLEAR if self._terminal else "") + screen.final_sheet(table.view, names) + f"\n\n{shown}\n")
        else:
            self._write("You left the game.\n")
        self._write(f"\nCommitment {table.commitment.hex()}\nSecret     {table.setup.secret.hex()}\n")


class LocalJson(JsonFront):
    """For a program: {"t": "start"} with the commitment, then as online; the secret comes with {"t": "over"}."""

    def start(self, table: LocalTable) -> None:
        """Said before the first card (P70)."""
        setup = table.setup
        shown: dict[str, Any] = {"t": "start", "game_id": table.id, "game": setup.game, "options": dict(setup.options)}
        shown |= {"seat": table.seat, "names": list(table.names), "bots": setup.bots}
        self._write(json.dumps(shown | {"commitment": table.commitment.hex()}) + "\n")

    def end(self, table: Seated) -> None:
        assert isinstance(table, LocalTable) and table.result is not None
        result = table.result
        shown: dict[str, Any] = {"t": "over", "game_id": table.id, "status": result.status, "place": result.place}
        shown |= {"ranking": list(result.ranking), "totals": list(result.totals), "places": list(result.places)}
        self._write(json.dumps(shown | {"secret": table.setup.secret.hex()}) + "\n")
