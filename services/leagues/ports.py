"""What the handlers need of the outside."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import date, datetime
from typing import Protocol

from google.protobuf.message import Message

from services.leagues.domain.closing import ClosedGroup, OpenGroup, TotalsPage, WeekTotal
from services.leagues.domain.league import Group, GroupId, LastGroup, Place, Ranked, Score, Seat, Stage, Tier
from services.leagues.domain.offline import OfflineGame
from services.leagues.domain.results import AccountId, GameKind, GameResult, Prize, PrizeReturn, TableId, WeekId
from services.leagues.domain.standing import Look, Progress


class Facts(Protocol):
    """Accounts, results, prizes and what went back.

    Facts are rows that are never changed; totals are sums over those that count, kept beside.
    """

    async def lock(self, account_id: AccountId) -> Progress:
        """Make the account known and hold it until the end: whoever changes an account's totals holds it."""
        ...

    async def lock_game(self, table_id: TableId) -> bool:
        """Hold the game until the end, before any account is held. True: it was voided."""
        ...

    async def create(self, account_id: AccountId, *, guest: bool) -> None:
        """Note who is a guest; an account never becomes one again."""
        ...

    async def mark_deleted(self, account_id: AccountId) -> None:
        """The account is shown and ranked no more; its rows stay (P45)."""
        ...

    async def insert_result(self, result: GameResult) -> bool:
        """False: this game of this account is known already, and nothing has changed."""
        ...

    async def void(self, table_id: TableId) -> bool:
        """From now on the game's results count no more. False: voided before. The game is held."""
        ...

    async def results_of_game(self, table_id: TableId) -> Sequence[GameResult]:
        """By account id."""
        ...

    async def insert_prize(self, won: Prize) -> bool:
        """False: this prize is known already, and nothing has changed."""
        ...

    async def insert_return(self, gone: PrizeReturn) -> bool:
        """False: it is known already that this prize went back, and nothing has changed."""
        ...

    async def add_progress(self, account_id: AccountId, *, experience: int, games: int) -> Progress: ...

    async def set_level(self, account_id: AccountId, level: int) -> None: ...

    async def sum_week(self, account_id: AccountId, week_id: WeekId, kind: GameKind) -> None:
        """Write a locked account's week anew from the facts: the league's (quick), or the leaderboard's (friends)."""
        ...

    async def progress(self, account_id: AccountId) -> Progress | None: ...


class Shown(Protocol):
    """What profiles, standings and the leaderboard show."""

    async def latest_places(self, account_id: AccountId, count: int) -> Sequence[int]:
        """Places of the last counted quick-play games by the time they finished, newest first."""
        ...

    async def is_ranked(self, account_id: AccountId) -> bool:
        """Guests, those that are gone, and those whom auth has not told of yet are not."""
        ...

    async def week_score(self, account_id: AccountId, week_id: WeekId) -> Score:
        """Points and games of the weekly league as they stand."""
        ...

    async def leaderboard(self, week_id: WeekId, limit: int) -> Sequence[Place]:
        """The first places of friends' games."""
        ...

    async def leaderboard_place(self, account_id: AccountId, week_id: WeekId) -> Place | None:
        """None: no friends' game of that week counts."""
        ...


class Groups(Protocol):
    """Tiers, and who plays in which group."""

    async def hold_weeks(self) -> None:
        """Before any account is held: no week is grouped or closed until the end, while others hold them so too."""
        ...

    async def tier_of(self, account_id: AccountId) -> Tier:
        """In which it plays from now on."""
        ...

    async def has_prize(self, account_id: AccountId, week_id: WeekId) -> bool: ...

    async def group_of(self, account_id: AccountId, week_id: WeekId) -> Group | None: ...

    async def lock_tier(self, week_id: WeekId, of: Tier) -> LastGroup:
        """Be the only one to seat in that tier until the end; after everything else that is held."""
        ...

    async def last_group(self, week_id: WeekId, of: Tier) -> LastGroup: ...

    async def seat(self, week_id: WeekId, of: Tier, seats: Sequence[Seat]) -> None:
        """The accounts have no group in that week."""
        ...

    async def live_scores(self, group_id: GroupId) -> Sequence[Score]:
        """Of those who are ranked, as they stand."""
        ...

    async def closed_ranks(self, group_id: GroupId) -> Sequence[Ranked]:
        """As the group was closed, by rank; accounts that are gone are left out."""
        ...

    async def closed_rank(self, account_id: AccountId, week_id: WeekId) -> Ranked | None: ...

    async def looks(self, account_ids: Sequence[AccountId]) -> Mapping[AccountId, Look]: ...


class Weeks(Protocol):
    """The closing of weeks."""

    async def hold_weeks_alone(self) -> None:
        """Wait until nobody holds the weeks, and hold them alone until the end."""
        ...

    async def open_week(self) -> WeekId | None:
        """The oldest week that is not closed, counted from the first with a prize; None: there never was one."""
        ...

    async def last_closed_week(self) -> WeekId | None: ...

    async def stage(self, week_id: WeekId) -> Stage | None:
        """None: its closing has not begun."""
        ...

    async def begin_week(self, week_id: WeekId, next_week_id: WeekId) -> None:
        """Into the first stage. Idempotent."""
        ...

    async def advance(self, week_id: WeekId, before: Stage, after: Stage) -> bool:
        """False: the week is not in the stage `before`, and nothing has changed."""
        ...

    async def last_total(self, week_id: WeekId) -> AccountId | None: ...

    async def keep_totals(self, week_id: WeekId, totals: Sequence[WeekTotal]) -> None:
        """Idempotent."""
        ...

    async def undecided(self, week_id: WeekId, limit: int) -> Sequence[AccountId]:
        """Accounts in the totals of whom auth has not told whether they are guests; the first `limit`."""
        ...

    async def unseated(self, week_id: WeekId, *, sealed: bool) -> Mapping[Tier, Sequence[AccountId]]:
        """Ranked accounts with a prize (`sealed`: in the totals) and no group, by the week's first prize."""
        ...

    async def learn_sizes(self) -> None:
        """Tell the database's planner that many rows have come."""
        ...

    async def take_open_groups(self, week_id: WeekId, limit: int) -> Sequence[OpenGroup]:
        """Hold some groups that nobody else holds, with what they are closed by."""
        ...

    async def has_open_groups(self, week_id: WeekId) -> bool: ...

    async def close_groups(self, groups: Sequence[ClosedGroup]) -> None:
        """Write ranks and tiers. The groups are held."""
        ...


class Offline(Protocol):
    """Offline games, and what tells them from games played here."""

    async def keep_commitment(self, commitment: bytes) -> None:
        """Idempotent."""
        ...

    async def was_online(self, commitment: bytes) -> bool: ...

    async def offline_games(self, account_id: AccountId, day: date) -> int:
        """How many that count were credited on that day."""
        ...

    async def insert_offline(self, account_id: AccountId, game: OfflineGame, day: date, experience: int) -> bool:
        """False: the game was credited before, to whomever, or its secret to this account; nothing has changed."""
        ...

    async def offline_experience(self, account_id: AccountId, game: OfflineGame) -> int | None:
        """What this account was given for the game or another record of its secret; None: nothing was."""
        ...


class Proofs(Protocol):
    """Stored totals against the facts."""

    async def different(self, limit: int) -> Sequence[AccountId]:
        """Accounts whose stored totals are not the sums of their rows, in one snapshot."""
        ...

    async def level_spans(self) -> Sequence[tuple[int, int, int]]:
        """For each stored level: (level, least experience, most experience)."""
        ...

    async def accounts_at(self, level: int, limit: int) -> Sequence[AccountId]: ...

    async def rebuild(self, account_id: AccountId) -> Progress:
        """Write totals and tier anew from the rows of a locked account; the level stays as it is."""
        ...

    async def wrong_closes(self, limit: int) -> Sequence[tuple[WeekId, str]]:
        """What of closed weeks and of groups cannot be, (week, what)."""
        ...


class Ledger(Facts, Shown, Groups, Weeks, Offline, Proofs, Protocol):
    """One open transaction over all that leagues keep."""

    async def now(self) -> datetime: ...

    async def publish(self, topic: str, key: bytes, message: Message) -> None: ...

    async def publish_all(self, topic: str, messages: Sequence[tuple[bytes, Message]]) -> None:
        """(key, message), in order."""
        ...


class Books(Protocol):
    """Opens transactions."""

    def transaction(self) -> AbstractAsyncContextManager[Ledger]: ...


class Wallet(Protocol):
    """Whose word the close of a week is made from."""

    async def seal_week(self, week: WeekId, after: AccountId | None) -> TotalsPage | None:
        """The next page of a week's totals behind the account `after`; None: not yet. Raises DomainError."""
        ...
