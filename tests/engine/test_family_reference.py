"""W1–W8, L1–L4, K1–K3, G1–G2: each game of S1 against a second model that shares nothing with it, at random tables.

`make fuzz-engine` compares a million decisions a game (`WHIST_FUZZ`).
"""

from random import Random

import pytest

from tests.engine.comparison import CHUNKS, DECISIONS, TIMEOUT, compare_chunk, compare_game
from tests.engine.family import TABLES, Table, name_of


@pytest.mark.timeout(TIMEOUT)
@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("name", ["english", "solo", "knockout", "german"])
def test_w1_w8_l1_l4_k1_k3_g1_g2_agree_with_the_second_model(name: str, chunk: int) -> None:
    assert compare_chunk(name, chunk) >= DECISIONS / CHUNKS


@pytest.mark.parametrize("table", TABLES, ids=name_of)
def test_w1_w8_l1_l4_k1_k3_g1_g2_agree_with_the_second_model_at_every_table(table: Table) -> None:
    assert compare_game(table, Random(1)) > 0


def test_every_table_has_a_name_of_its_own() -> None:
    assert len({name_of(table) for table in TABLES}) == len(TABLES)
