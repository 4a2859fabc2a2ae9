"""Coach: hints from what a seat can know (P60)."""
