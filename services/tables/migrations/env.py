"""Alembic asks for this file; `libs.chassis.db.migrate` sets the context up itself and never runs it."""
