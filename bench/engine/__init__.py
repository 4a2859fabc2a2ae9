"""How fast the engine, the search kernel, the bots and the coach are; `make bench-engine` runs it."""
