"""Players' sockets and the streams to the table workers: the hot path, made of callbacks."""
