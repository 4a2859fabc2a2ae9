"""``python -m tests.architecture.migrations_sql``: the SQL of every service's migrations, for `make lint` (squawk)."""

from services.allinone.wiring import SPECS


def sql() -> str:
    """All upgrades from nothing to the newest revision, service by service, in the order in which they start."""
    return "\n".join(
        f"-- {spec.name}: {spec.migrations.folder.parent.name}/migrations\n{spec.migrations.sql()}"
        for spec in SPECS
        if spec.migrations is not None
    )


if __name__ == "__main__":
    print(sql())
