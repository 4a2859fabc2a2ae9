"""PostgreSQL: engine, transactions, migrations, and a server from a wheel for one machine."""

from libs.chassis.db.database import Database, Store, Transaction
from libs.chassis.db.migrate import Migrations

__all__ = ["Database", "Migrations", "Store", "Transaction"]
