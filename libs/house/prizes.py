"""What the first three win (P6)."""

from libs.house.modes import Coffee

PLACE_BP = (10_000, 7_000, 5_500)  # 1st all of the room's prize, 2nd 70 %, 3rd 55 %


def prize_coins(first_prize: int, place: int, coffee: Coffee) -> int:
    """Coins won by `place` (1-based) where the room pays `first_prize`; 0 beyond the third.

    One rounding, at the end and downwards: floor(prize × place_bp × coffee_bp / 10^8) (P6).
    Raises ValueError for a negative prize or a place below 1.
    """
    if first_prize < 0 or place < 1:
        raise ValueError(f"no prize of {first_prize} coins for place {place}")
    if place > len(PLACE_BP):
        return 0
    return first_prize * PLACE_BP[place - 1] * coffee.bp // 10**8
