"""J8, J9 and J15: each row is legal by a second model of the game, and the cards are a pack's."""

from typing import Any

from libs.engine import fair
from services.tables.domain.entries import Drawn, Moved, Opened
from tests.chaos.history.model import Journal
from tests.engine.reference.romanian import Romanian

SUITS = "CDHS"
RANKS = "23456789TJQKA"
DEALS = {"quick": 6}
BY_PLAYERS = {4: 24, 5: 27, 6: 30}  # R2


def complaints(journal: Journal) -> list[str]:
    """For a game of Romanian Whist; whatever a broken row makes a reader raise is a complaint."""
    name = journal.table.hex
    try:
        first = journal.rows[0].entry
        assert isinstance(first, Opened)
        assert first.game == "romanian"
    except Exception as error:
        return [f"J8 {name}: row 0 opens no table: {error!r}"]
    found = []
    for check in (_legal, _dealt, _scheduled):
        try:
            found += check(journal, first)
        except Exception as error:
            found.append(f"J8 {name}: {check.__name__} ended at {error!r}")
    return found


def _events(journal: Journal, kind: str) -> list[list[Any]]:
    return [event for row in journal.rows for event in getattr(row.entry, "events", []) if event[0] == kind]


def _legal(journal: Journal, first: Opened) -> list[str]:
    """J8: the model draws by the secret itself, and each decision is among its legal ones."""
    name = journal.table.hex
    model = Romanian(len(first.seats), first.options)
    for row in journal.rows[1:]:
        match row.entry:
            case Drawn() as drawn:
                while (due := model.draw()) is not None:
                    label, size = due
                    model.take_draw(list(fair.permutation(first.secret, label, size)))
                hands = [event[5] for event in drawn.events if event[0] == "dealt"][-1]
                if [sorted(cards(hand)) for hand in hands] != [sorted(hand) for hand in model.hands]:
                    return [f"J8 {name}: row {row.seq} deals what the secret does not"]
            case Moved(seat=seat, events=[[kind, actor, what, *_], *_]):
                action = {kind: what}
                if model.to_act() != seat or actor != seat or action not in model.legal():
                    return [f"J8 {name}: row {row.seq} is {action} by seat {seat}, due is seat {model.to_act()}"]
                model.act(action)
            case Moved():
                return [f"J8 {name}: row {row.seq} begins with no decision"]
    for _, ranking, totals in _events(journal, "over"):
        if (model.stage, *model.outcome()[:2]) != ("over", ranking, totals):
            return [f"J8 {name}: the result is {ranking} {totals}, by the model {model.outcome()[:2]}"]
    return []


def _dealt(journal: Journal, first: Opened) -> list[str]:
    """J9: distinct cards of the right pack, a turn-up beside them where there is one."""
    name, players, found = journal.table.hex, len(first.seats), []
    pack = {rank + suit for rank in RANKS[-2 * players :] for suit in SUITS}
    for _, index, size, _, turn_up, hands, *_ in _events(journal, "dealt"):
        dealt = [card for hand in hands for card in cards(hand)] + ([turn_up] if turn_up else [])
        if len(set(dealt)) != len(dealt) or not pack.issuperset(dealt):
            found.append(f"J9 {name}: deal {index} is not of one pack")
        if [len(cards(hand)) for hand in hands] != [size] * players or (turn_up is None) != (size == 8):
            found.append(
                f"J9 {name}: deal {index} of {size} cards has {[len(cards(hand)) for hand in hands]}, {turn_up}"
            )
    return found


def _scheduled(journal: Journal, first: Opened) -> list[str]:
    """J15: as many deals as R2 says, the dealer moves on, and the last bid makes no deal come out even."""
    name, players, found = journal.table.hex, len(first.seats), []
    deals = _events(journal, "dealt")
    expected = DEALS.get(first.options["mode"], BY_PLAYERS[players])
    if len(deals) > expected or (journal.status == "finished" and len(deals) != expected):
        found.append(f"J15 {name}: {len(deals)} deals, {expected} are due")
    for number, (_, index, _, dealer, *_) in enumerate(deals):
        if (index, dealer) != (number, (deals[0][3] + number) % players):
            found.append(f"J15 {name}: deal {number} is numbered {index} and dealt by seat {dealer}")
    bids = [event[2] for event in _events(journal, "bid")]
    for number, (_, _, size, *_) in enumerate(deals):
        made = bids[number * players : (number + 1) * players]
        if len(made) == players and sum(made) == size:
            found.append(f"J15 {name}: the bids of deal {number} come out even")
    return found


def cards(text: str) -> list[str]:
    """A hand as the journal writes it: "7C9CAH"."""
    return [text[at : at + 2] for at in range(0, len(text), 2)]
