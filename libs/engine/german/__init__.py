"""German Whist (G1–G2): two players, thirteen cards each, and a stock to fight for."""
