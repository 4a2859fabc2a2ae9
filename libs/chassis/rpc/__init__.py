"""gRPC: servers that translate errors, measure and check their callers; peers that are called with a deadline."""
