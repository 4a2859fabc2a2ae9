"""Solo Whist (L1–L4): an auction, one or two against the rest, sixteen hands."""
