"""Who is there: sockets that follow a table, and what that means for a seat (P31). Not journaled."""

from dataclasses import dataclass, field

from services.tables.sessions import Session


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
