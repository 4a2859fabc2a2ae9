"""Ids of tables."""

import pytest

from libs.chassis.entropy import SystemEntropy
from libs.house.ids import table_id


def test_a_table_id_is_a_uuid8_with_its_shard_and_ascends_with_time() -> None:
    entropy = SystemEntropy()
    early, late = entropy.uuid7(), entropy.uuid7()
    for shard in (0, 7, 255):
        made = table_id(early, shard)
        assert (made.version, made.variant, made.bytes[0]) == (8, "specified in RFC 4122", shard)
        assert made < table_id(late, shard)
    with pytest.raises(ValueError, match="256"):
        table_id(early, 256)
