"""What gold bars buy (P12)."""

from dataclasses import dataclass
from typing import Annotated

from libs.house.fields import Whole
from libs.house.modes import Coffee

BARS_MAX = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CoffeeShop:
    """Coffee is sold some cups of a kind at a time, for bars alone: nothing is ever sold for money (P10)."""

    cups: Annotated[int, Whole(1, 1000, "Cups of one kind at a time.", "P12")]
    bars_x1_5: Annotated[int, Whole(1, BARS_MAX, "For so many cups ×1.5.", "P12")]
    bars_x2: Annotated[int, Whole(1, BARS_MAX, "For so many cups ×2.", "P12")]
    bars_x3: Annotated[int, Whole(1, BARS_MAX, "For so many cups ×3.", "P12")]
    bars_x5: Annotated[int, Whole(1, BARS_MAX, "For so many cups ×5.", "P12")]

    def price_bars(self, coffee: Coffee) -> int:
        """Of `cups` cups. Raises ValueError for no coffee."""
        prices = {
            Coffee.X1_5: self.bars_x1_5,
            Coffee.X2: self.bars_x2,
            Coffee.X3: self.bars_x3,
            Coffee.X5: self.bars_x5,
        }
        if coffee not in prices:
            raise ValueError("no coffee has no price")
        return prices[coffee]
