"""Records of games: one form for all variants (P72), as JSON, as text in the tradition of PBN, and as a link."""
