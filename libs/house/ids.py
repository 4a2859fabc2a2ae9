"""The id of a table, which says where its journal lies (ARCHITECTURE.md)."""

from uuid import UUID

SHARDS = 256


def table_id(born: UUID, shard: int = 0) -> UUID:
    """The UUIDv8 of a new table: `shard` (0..255) as its first byte, the rest of the UUIDv7 `born` behind it.

    Within a shard ids ascend with time, since the byte that is replaced changes once in 34 years.
    Raises ValueError for a shard out of range.
    """
    if not 0 <= shard < SHARDS:
        raise ValueError(f"shard {shard} is not one byte")
    raw = bytearray(born.bytes)
    raw[0] = shard
    raw[6] = 0x80 | (raw[6] & 0x0F)
    raw[8] = 0x80 | (raw[8] & 0x3F)
    return UUID(bytes=bytes(raw))
