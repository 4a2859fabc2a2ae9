"""Whole weeks of a town of players over the real wallet and leagues, beside a second model of what they must come to.

The services run as in the product, on one bus and one database whose clock the test turns; what tables, coach and auth
would tell is made up by a seed: games with entries, coffee, prizes, refunds, voids, and everything again, late and
out of order. The model of `books.py` was written from the specification alone and shares no code with the services.

`make simulate` plays 2,000 players; the tests play fewer of them.
"""
