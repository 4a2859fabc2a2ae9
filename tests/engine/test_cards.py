"""Packs of R1 and the texts of cards."""

import pytest

from libs.engine.cards import (
    CARDS,
    Rank,
    Suit,
    card,
    card_text,
    cards_in,
    deck,
    hand_of,
    parse_card,
    suit_of,
)


@pytest.mark.parametrize(("players", "lowest"), [(4, "7"), (5, "5"), (6, "3")])
def test_r1_packs_hold_twice_as_many_ranks_as_players(players: int, lowest: str) -> None:
    pack = deck(players)
    assert len(pack) == len(set(pack)) == 8 * players
    assert card_text(pack[0]) == f"{lowest}C"
    assert all(card(suit, Rank.ACE) in pack for suit in Suit)


def test_every_card_reads_back_from_its_text() -> None:
    assert len(CARDS) == 52
    assert all(parse_card(card_text(one)) == one for one in CARDS)
    assert card_text(card(Suit.HEARTS, Rank.TEN)) == "TH"
    assert suit_of(parse_card("QS")) is Suit.SPADES


@pytest.mark.parametrize("text", ["", "10H", "qh", "QX", "1H", "QH ", None, 3, ["QH"]])
def test_what_is_no_card_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a card"):
        parse_card(text)


def test_a_hand_lists_its_cards_once_in_pack_order() -> None:
    pack = deck(6)
    assert tuple(cards_in(hand_of(reversed(pack + pack)))) == pack
