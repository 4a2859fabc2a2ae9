"""One transaction of leagues: all of its repositories over one connection."""

from services.leagues.storage.accounts import Accounts
from services.leagues.storage.groups import Groups
from services.leagues.storage.offline import Offline
from services.leagues.storage.proofs import Proofs
from services.leagues.storage.standings import Standings
from services.leagues.storage.weeks import Weeks


class LeaguesTransaction(Accounts, Standings, Groups, Weeks, Offline, Proofs):
    """Implements `services.leagues.ports.Ledger` on PostgreSQL."""
