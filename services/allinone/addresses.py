"""The addresses that a run is going to listen on, tried before anything is started."""

import socket
from collections.abc import Mapping


class AddressTaken(Exception):
    """Another program listens there, or the address is not this machine's."""


def require_free(listens: Mapping[str, str]) -> None:
    """Try each ``host:port`` by its setting's name; empty ones are switched off. Raises AddressTaken.

    Somebody may still be faster afterwards; this is for the plain case, which deserves one line instead of a trace.
    """
    for setting, listen in listens.items():
        if not listen:
            continue
        host, _, port = listen.rpartition(":")
        try:
            socket.create_server((host, int(port))).close()
        except OSError as error:
            reason = (error.strerror or str(error)).partition(" (")[0]
            raise AddressTaken(f"cannot listen on {listen}: {reason}; choose another with {setting}") from None
