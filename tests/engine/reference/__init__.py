"""A second model of each game, written from the rules' words alone: slow, plain lists of card texts, no masks.

It shares no line with the engine. `tests.engine.comparison` plays a model and the engine side by side.
"""

from typing import Any, Protocol


class Model(Protocol):
    """One game at a table; made with the number of players and the table's options."""

    stage: str  # "over" at the end

    def draw(self) -> tuple[str, int] | None:
        """The label and size of the draw that is due."""
        ...

    def take_draw(self, order: list[int]) -> None:
        """Take the permutation asked for."""
        ...

    def to_act(self) -> int | None: ...

    def legal(self) -> list[dict[str, Any]]:
        """Every legal move of `to_act`, in any order."""
        ...

    def act(self, action: dict[str, Any]) -> None:
        """That move by `to_act`."""
        ...

    def scores(self) -> list[int]:
        """By seat, so far; asked between deals."""
        ...

    def hand(self, seat: int) -> list[str]:
        """What the seat sees of its own cards, in any order; asked after a deal."""
        ...

    def outcome(self) -> tuple[list[int], list[int], list[int]]:
        """Seats from best to last, scores by seat, and which step of the rules parted each from the next."""
        ...
