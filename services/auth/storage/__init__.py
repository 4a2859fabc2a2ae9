"""Where auth keeps things: PostgreSQL (schema `auth`) and the key files."""
