"""How people sign in and what they may be called: the numbers of P40 and P41."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from libs.house.fields import Misfit, Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """E-mailed codes, wrong ones, and sessions."""

    code_minutes: Annotated[int, Whole(1, 10, "A code is good for so long.", "P40")]
    tries: Annotated[int, Whole(1, 5, "A code may be tried so often.", "P40")]
    codes_minute: Annotated[int, Whole(1, 1000, "Codes to one address in a minute.", "P40")]
    codes_hour: Annotated[int, Whole(1, 1000, "Codes to one address in an hour.", "P40")]
    codes_day: Annotated[int, Whole(1, 1000, "Codes to one address in a day.", "P40")]
    free_fails: Annotated[int, Whole(1, 1000, "Wrong codes of an address in an hour before it must wait.", "P40")]
    first_delay_seconds: Annotated[int, Whole(1, 3600, "The first wait; each wrong code more doubles it.", "P40")]
    longest_delay_seconds: Annotated[int, Whole(1, 86_400, "The longest wait.", "P40")]
    fails_day: Annotated[int, Whole(1, 1000, "Wrong codes of an address in a day.", "P40")]
    homes: Annotated[
        int, Whole(1, 100, "Networks an account was signed in from; each has limits apart from strangers'.", "P40")
    ]
    home_days: Annotated[int, Whole(1, 3660, "Such a network is remembered for so long.", "P40")]
    session_days: Annotated[int, Whole(1, 366, "A session ends then however much it is used.", "P40")]
    idle_days: Annotated[int, Whole(1, 366, "A session ends when it was not used for so long.", "P40")]
    sessions: Annotated[int, Whole(1, 100, "Sessions an account may have; the longest unused makes room.", "P40")]
    fresh_minutes: Annotated[int, Whole(1, 1440, "Deleting the account asks for a session no older than this.", "P45")]

    def check(self) -> None:
        """Raises Misfit."""
        if self.longest_delay_seconds < self.first_delay_seconds:
            raise Misfit("longest_delay_seconds", "must not be below first_delay_seconds")
        if self.idle_days > self.session_days:
            raise Misfit("idle_days", "must not be above session_days")

    @property
    def code_life(self) -> timedelta:
        return timedelta(minutes=self.code_minutes)

    @property
    def home_kept(self) -> timedelta:
        return timedelta(days=self.home_days)

    @property
    def session_life(self) -> timedelta:
        return timedelta(days=self.session_days)

    @property
    def session_idle(self) -> timedelta:
        return timedelta(days=self.idle_days)

    @property
    def fresh(self) -> timedelta:
        return timedelta(minutes=self.fresh_minutes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Names that accounts hold for themselves alone."""

    length_min: Annotated[int, Whole(3, 16, "Characters of the shortest name, after normalising.", "P41")]
    length_max: Annotated[int, Whole(3, 16, "Characters of the longest name.", "P41")]
    change_days: Annotated[int, Whole(0, 3660, "Days between two changes; the first claim is free at once.", "P41")]
    held_days: Annotated[
        int, Whole(0, 3660, "Days for which a name given up, or of a deleted account, is nobody else's.", "P41")
    ]

    def check(self) -> None:
        """Raises Misfit."""
        if self.length_max < self.length_min:
            raise Misfit("length_max", "must not be below length_min")

    @property
    def change_after(self) -> timedelta:
        return timedelta(days=self.change_days)

    @property
    def held(self) -> timedelta:
        return timedelta(days=self.held_days)
