"""How many cards each round has (R2) and whose deal it is (R3)."""

from typing import assert_never

from libs.engine.romanian.options import Mode, Options

FULL = 8  # cards a player in a round that deals the whole pack: no trump
SHORTER = (2, 3, 4, 5, 6, 7)
QUICK_SIZES = len(SHORTER)  # quick leaves one of them out


def sizes(options: Options, players: int, left_out: int | None = None) -> tuple[int, ...]:
    """Cards a player, round by round. Quick needs `left_out`, an index into 2..7."""
    up = SHORTER
    down = tuple(reversed(up))
    eights, ones = (FULL,) * players, (1,) * players
    match options.mode:
        case Mode.EIGHT_ONE_EIGHT:
            return eights + down + ones + up + eights
        case Mode.EIGHT_EIGHT_EIGHT:
            return eights + down + eights + up + eights
        case Mode.ONE_EIGHT_ONE:
            return ones + up + eights + down + ones
        case Mode.QUICK:
            assert left_out is not None, "quick draws the size that it leaves out"
            return (FULL, *(size for size in down if size != up[left_out]))
        case Mode.BENCH:
            return (FULL,) * options.rounds
        case _:
            assert_never(options.mode)


def dealer_of(index: int, first_dealer: int, players: int) -> int:
    """R3: the deal passes clockwise every round, across blocks."""
    return (first_dealer + index) % players
