"""Every service on one machine: in one process (`python -m services.allinone`), or each in its own (`cluster`)."""
