"""How often is too often (P40, reliability 4).

Limits on an address never lock its owner out: who signs in from a network where the account was signed in before has
a budget apart from everybody else's, so a stranger can use up only the strangers'.
"""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `maximum` in any stretch of `period`."""

    maximum: int
    period: timedelta


HOUR = timedelta(hours=1)
DAY = timedelta(days=1)  # the longest period there is: what is older may be forgotten

CODE_LIFE = timedelta(minutes=10)
TRIES_MAX = 5  # a code
CODES_PER_ADDRESS = (Limit(1, timedelta(seconds=60)), Limit(5, HOUR), Limit(20, DAY))
FAILS_PER_ADDRESS = Limit(50, DAY)  # one in 2,000,000 of a day's guesses at eight digits is right

FREE_FAILS = 10  # within an hour; each one more makes the next try wait twice as long
FIRST_DELAY = timedelta(seconds=30)
LONGEST_DELAY = HOUR
HOME_KEPT = timedelta(days=180)  # since the last sign-in from there
HOMES_MAX = 10  # networks an account is at home in


def fail_delay(fails_in_hour: int) -> timedelta:
    """How long after the last wrong code the next try must wait: nothing, 30 s, 60 s … 1 h."""
    beyond = fails_in_hour - FREE_FAILS
    if beyond < 0:
        return timedelta(0)
    return min(FIRST_DELAY * (1 << min(beyond, 10)), LONGEST_DELAY)
