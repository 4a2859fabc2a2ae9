"""WebSocket frames as bytes (RFC 6455 5.2), for those that leave together.

A system call costs more than all of ours around it, so what one row tells one player leaves in one write.
"""

TEXT, BINARY = 1, 2
_SHORT, _MEDIUM = 126, 1 << 16


def framed(opcode: int, payload: bytes) -> bytes:
    """A whole, unmasked frame, as servers send them; `opcode` is TEXT or BINARY."""
    size = len(payload)
    first = 0x80 | opcode
    if size < _SHORT:
        return bytes((first, size)) + payload
    if size < _MEDIUM:
        return bytes((first, 126, size >> 8, size & 0xFF)) + payload
    return bytes((first, 127)) + size.to_bytes(8, "big") + payload
