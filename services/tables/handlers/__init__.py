"""Use cases of tables off the hot path, one transaction each; what moves a live table is in `actor`."""
