"""English and American Whist (W1–W9): two sides of two, thirteen tricks, honours, rubbers, revokes."""
