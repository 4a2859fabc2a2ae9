"""How often is too often (P40, reliability 4); the numbers are the platform's (`[sign_in]`).

Limits on an address never lock its owner out: who signs in from a network where the account was signed in before has
a budget apart from everybody else's, so a stranger can use up only the strangers'.
"""

from dataclasses import dataclass
from datetime import timedelta

from libs.house.sign_in import SignIn


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `maximum` in any stretch of `period`."""

    maximum: int
    period: timedelta


MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)  # the longest period there is: what is older may be forgotten
DOUBLINGS_MAX = 20  # beyond any longest delay; keeps the shift small


def codes_per_address(numbers: SignIn) -> tuple[Limit, ...]:
    """Codes that one address may be sent."""
    return Limit(numbers.codes_minute, MINUTE), Limit(numbers.codes_hour, HOUR), Limit(numbers.codes_day, DAY)


def fail_delay(fails_in_hour: int, numbers: SignIn) -> timedelta:
    """How long after the last wrong code the next try must wait: nothing, 30 s, 60 s … 1 h."""
    beyond = fails_in_hour - numbers.free_fails
    if beyond < 0:
        return timedelta(0)
    seconds = numbers.first_delay_seconds << min(beyond, DOUBLINGS_MAX)
    return timedelta(seconds=min(seconds, numbers.longest_delay_seconds))
