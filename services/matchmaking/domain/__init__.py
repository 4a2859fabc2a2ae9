"""Who may queue, who sits together, and how a match goes on: pure functions over values."""
