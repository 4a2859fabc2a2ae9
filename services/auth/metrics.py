"""What auth counts."""

from prometheus_client import Counter, Gauge

codes = Counter("whist_auth_codes", "Codes asked for and tried, by what came of it.", ["outcome"])
refused = Counter("whist_auth_refused", "Requests over a limit, by what is limited.", ["limit"])
accounts = Counter("whist_auth_accounts", "Accounts and guests made.", ["kind"])
refreshes = Counter("whist_auth_refreshes", "Refresh tokens presented, by what came of it.", ["outcome"])
sessions_ended = Counter("whist_auth_sessions_ended", "Sessions ended before their time.")
mails = Counter("whist_auth_mails", "Letters, by what came of them.", ["outcome"])
mails_waiting = Gauge("whist_auth_mails_waiting", "Letters not yet handed over.")
