"""Where clients meet the platform: REST, sockets, the landing page. Holds no game state."""
