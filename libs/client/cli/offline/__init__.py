"""A game played here against bots, without a server: what it is, its table, and the game from first card to record."""
