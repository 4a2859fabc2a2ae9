"""Who is there: sockets that follow a table, and what that means for a seat (P31). Not journaled."""

from dataclasses import dataclass, field

from libs.engine.game import Seat
from services.tables.domain.table import Table
from services.tables.sessions import Session

PERSON, BOT = "person", "bot"


@dataclass(slots=True)
class Followers:
    """The sockets of one table by gateway stream: session -> conn -> account."""

    by_session: dict[Session, dict[int, bytes]] = field(default_factory=dict)

    def add(self, session: Session, conn: int, account: bytes) -> bool:
        """True when this account had no socket here before."""
        first = not self.has(account)
        self.by_session.setdefault(session, {})[conn] = account
        return first

    def remove(self, session: Session, conn: int) -> bytes | None:
        """The account that has no socket here any more, or None."""
        conns = self.by_session.get(session)
        account = conns.pop(conn, None) if conns is not None else None
        if conns is not None and not conns:
            del self.by_session[session]
        return None if account is None or self.has(account) else account

    def remove_session(self, session: Session) -> list[bytes]:
        """The accounts that have no socket here any more."""
        accounts = set(self.by_session.pop(session, {}).values())
        return [account for account in accounts if not self.has(account)]

    def has(self, account: bytes) -> bool:
        return any(account in conns.values() for conns in self.by_session.values())

    def sockets(self, account: bytes) -> list[tuple[Session, int]]:
        """This account's sockets here, as (gateway, conn)."""
        return [
            (session, conn)
            for session, conns in self.by_session.items()
            for conn, who in conns.items()
            if who == account
        ]

    def of(self, account: bytes) -> list[Session]:
        """The gateways at which this account has a socket here."""
        return [session for session, conns in self.by_session.items() if account in conns.values()]

    def accounts(self) -> set[bytes]:
        """Everybody who follows."""
        return {account for conns in self.by_session.values() for account in conns.values()}


@dataclass(slots=True)
class Presence:
    """One person's seat. A broken connection waits out one whole turn of the seat, then the bot plays (P31)."""

    connected: bool = False
    # The seat was played by time-out once since the connection broke.
    waited_out: bool = False
    # The person has acted or come back since the seat went away (P30).
    returned: bool = False


class Holders:
    """Who plays each seat's next turn: its person, or the bot for one who is away, gone or left."""

    def __init__(self, table: Table, away_after: int) -> None:
        """`away_after` time-outs in a row a seat is away (P30)."""
        self._table = table
        self._away_after = away_after
        self._presence = {seat: Presence() for seat, facts in enumerate(table.seats) if facts.account}

    def of(self, seat: Seat) -> str:
        """ "person" or "bot"."""
        if not self._table.is_person(seat):
            return BOT
        presence = self._presence[seat]
        away = self._table.tallies[seat].time_outs >= self._away_after and not presence.returned
        gone = not presence.connected and presence.waited_out
        return BOT if away or gone else PERSON

    def anybody(self) -> bool:
        """Whether a person who has not left is connected."""
        return any(each.connected for seat, each in self._presence.items() if self._table.is_person(seat))

    def joined(self, seat: Seat) -> bool:
        """The seat's person follows the table; True when a bot held the seat until now."""
        returned = self._return(seat)
        self._presence[seat].connected = True
        return returned

    def acted(self, seat: Seat) -> bool:
        """The seat's person has acted; True when a bot held the seat until now."""
        return not self._presence[seat].returned and self._return(seat)

    def _return(self, seat: Seat) -> bool:
        presence = self._presence[seat]
        returned = self._table.is_person(seat) and self.of(seat) == BOT
        presence.waited_out, presence.returned = False, True
        return returned

    def timed_out(self, seat: Seat) -> None:
        """A person's turn was played for them."""
        presence = self._presence.get(seat)
        if presence is not None:
            presence.waited_out = not presence.connected
            presence.returned = False

    def disconnected(self, seat: Seat) -> None:
        """The seat's last socket has gone."""
        self._presence[seat].connected = False

    def taken_over(self, seat: Seat, *, connected: bool) -> None:
        """Another person has sat down there."""
        self._presence[seat] = Presence(connected=connected, returned=True)
