"""The link between a gateway and a table worker: MessagePack batches inside `TablesService.Play`.

One stream a gateway and worker carries all players of both. Frames for clients travel as ready-made bytes: a public
one once a gateway, whatever the number of sockets. Up-frames name the account; the worker trusts the gateway for it
and checks account against seat itself.
"""

from typing import Any

import msgspec
from msgspec import Struct

# ---- gateway to worker ----


class Subscribe(Struct, array_like=True, tag="s", frozen=True):
    """Socket `conn` of `account` follows `table`. `since` -1: send a snapshot.

    Answered by at least one `ToSocket` without `req`: a snapshot, the rows after `since` (the last one again when none
    was missed), or an error frame. The gateway passes public frames on to the socket from that answer on.
    """

    table: bytes
    account: bytes
    conn: int
    since: int


class Unsubscribe(Struct, array_like=True, tag="u", frozen=True):
    """Socket `conn` follows `table` no longer."""

    table: bytes
    account: bytes
    conn: int


class Command(Struct, array_like=True, tag="c", frozen=True):
    """A move. `traceparent` (W3C) is set where the gateway traces it; `conn` and `req` come back in the answer."""

    table: bytes
    account: bytes
    conn: int
    req: str
    turn: int
    action: dict[str, Any]
    traceparent: str = ""


class Vacate(Struct, array_like=True, tag="q", frozen=True):
    """The account leaves its seat on purpose (P8)."""

    table: bytes
    account: bytes
    conn: int
    req: str


Up = Subscribe | Unsubscribe | Command | Vacate


# ---- worker to gateway ----


class Public(Struct, array_like=True, tag="p", frozen=True):
    """`frame` goes to every socket that follows `table`; one with an epoch below the newest seen is dropped.

    `conn`/`req` name the sender's socket and command when the row answers one, so that the gateway can stop its clock.
    `own`, by account, goes to the sockets of that account alone, right behind `frame` and in one write with it.
    """

    table: bytes
    epoch: int
    seq: int
    frame: bytes
    conn: int = 0
    req: str = ""
    own: dict[bytes, bytes] = {}


class ToAccount(Struct, array_like=True, tag="a", frozen=True):
    """`frame` goes to every socket of `account` that follows `table`."""

    table: bytes
    account: bytes
    epoch: int
    frame: bytes


class ToSocket(Struct, array_like=True, tag="o", frozen=True):
    """`frame` goes to socket `conn` alone: snapshots, acks, errors. `req` as in `Public`."""

    table: bytes
    conn: int
    epoch: int
    frame: bytes
    req: str = ""


class Owned(Struct, array_like=True, tag="w", frozen=True):
    """This worker has taken `table` over: follow it here, with `since` where you are."""

    table: bytes
    epoch: int
    seq: int
    address: str


class NotOwner(Struct, array_like=True, tag="n", frozen=True):
    """This worker does not own `table` (any more): Locate it again. `conn`, `req` of the refused frame, or 0."""

    table: bytes
    conn: int = 0
    req: str = ""


class Closed(Struct, array_like=True, tag="x", frozen=True):
    """`table` has ended here; forget its subscriptions after delivering what came before."""

    table: bytes


Down = Public | ToAccount | ToSocket | Owned | NotOwner | Closed

_encoder = msgspec.msgpack.Encoder()
_up = msgspec.msgpack.Decoder(list[Up])
_down = msgspec.msgpack.Decoder(list[Down])

encode_batch = _encoder.encode
decode_up = _up.decode
decode_down = _down.decode
