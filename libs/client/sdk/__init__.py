"""The SDK's rooms: `api` (REST), `session` (tokens), `socket` (connection), `table` (one game), `whist` (the door)."""
