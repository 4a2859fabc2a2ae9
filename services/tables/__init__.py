"""Table workers: live games, durable before they are acknowledged."""
