"""PostgreSQL behind the table workers: journal (raw asyncpg), ownership, heads and records."""
