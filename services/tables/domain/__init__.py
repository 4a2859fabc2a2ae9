"""A table as values: who sits, what was journaled, and what that makes of the game. No I/O, no clock, no chance."""
