"""The product from outside: real processes, real sockets, the public API alone."""
