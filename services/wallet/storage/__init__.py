"""The wallet's tables and the SQL over them."""
