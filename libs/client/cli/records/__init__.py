"""Records at the terminal (P72): where they are written and read, and how one is told step by step."""
