"""One transaction of leagues: all of its repositories over one connection."""

from services.leagues.storage.accounts import Accounts
from services.leagues.storage.proofs import Proofs
from services.leagues.storage.standings import Standings


class LeaguesTransaction(Accounts, Standings, Proofs):
    """Implements `services.leagues.ports.Ledger` on PostgreSQL."""
