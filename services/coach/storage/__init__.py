"""PostgreSQL behind coach: finished games and what was made of them."""
