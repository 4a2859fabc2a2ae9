"""The checker itself: a sound history passes, and each planted fault is called by its name."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from random import Random
from typing import Any
from uuid import UUID

import msgspec
import pytest

from libs.chassis.entropy import SystemEntropy
from libs.wire import frames
from services.tables.domain.entries import Body, By, Drawn, Moved, Resumed, SeatFacts, decode_body, encode_body
from services.tables.domain.table import command_id, decide_draws, decide_move, draw_id, move_id
from services.tables.handlers.games import OpenTable, prepare
from tests.chaos.history import answers, complaints, folding
from tests.chaos.history.model import ClientLog, History, Journal, Row, view_digest

TABLE = UUID("00000000-0000-8000-8000-000000000001")
PERSON = bytes(range(16))
BEGAN = datetime(2026, 11, 30, 12, tzinfo=UTC)
TAKEN_AT = 40  # the row that a second owner begins with


@cache
def played() -> History:
    """A whole game of one person and five bots, with a takeover in the middle, as its only client saw it."""
    birth = prepare(
        OpenTable(
            table_id=TABLE, kind=1, mode=1, game="romanian", options={"mode": "quick"}, seats=6,
            players=[SeatFacts(PERSON, "Ana", room=1)],
        ),
        SystemEntropy(),
    )  # fmt: skip
    table, random = birth.table, Random(1)
    person = table.seat_of(PERSON)
    bodies = [(command, body, 1) for command, body in birth.rows]
    log = ClientLog(table=TABLE, account=PERSON, seat=-1 if person is None else person)
    while table.phase != "over":
        seq, epoch = len(bodies), 1 + (len(bodies) >= TAKEN_AT)
        body: Body
        if seq == TAKEN_AT:
            body, command = Resumed(1200), draw_id(TABLE, seq)
        elif (drawn := decide_draws(table)) is not None:
            body, command = drawn[0], draw_id(TABLE, seq)
        else:
            seat = table.to_act
            assert seat is not None
            action, own = random.choice(table.view(seat)["legal"]), seat == person
            req = f"r{seq}" if own else ""
            if own:
                act = frames.Act(table=TABLE.hex, req=req, turn=table.turn, action=action)
                log.invoke(act, float(seq))
            body, _ = decide_move(table, seat, table.turn, action, By.PERSON if own else By.BOT, req)
            command = command_id(TABLE, PERSON, req) if own else move_id(TABLE, table.turn)
        bodies.append((command, encode_body(body), epoch))
        table.apply(body)
    rows = tuple(
        Row(seq=seq, epoch=epoch, command_id=command, body=body, at=BEGAN + timedelta(seconds=seq))
        for seq, (command, body, epoch) in enumerate(bodies)
    )
    scored = sum(event[0] == "scored" for row in rows for event in getattr(row.entry, "events", []))
    journal = Journal(
        table=TABLE, status="finished", epoch=2, next_seq=len(rows), owner="worker-2", rows=rows,
        owned_at=rows[TAKEN_AT].at - timedelta(milliseconds=1),
        events=("game_started", "game_finished", *["round_ended"] * scored),
    )  # fmt: skip
    for row, entry, events, folded in folding.steps(journal):
        log.hear(frames.decode_server.decode(folding.broadcast(row, entry, events, folded)), row.seq + 0.5)
        log.views[row.seq] = view_digest(folded.view(person))
    snapshot = frames.Snapshot(
        table=TABLE.hex, seq=len(rows) - 1, epoch=2, seat=log.seat, game="romanian", view=table.view(person), seats=[],
        deadline=0, commitment="",
    )  # fmt: skip
    log.hear(snapshot, 1000.0)
    return History(journals={TABLE: journal}, clients=(log,), healed_at=BEGAN, finishes=True)


Plant = Callable[[History], History]


def of_journal(change: Callable[[Journal], Journal]) -> Plant:
    return lambda history: replace(history, journals={TABLE: change(history.journals[TABLE])})


def of_rows(change: Callable[[list[Row]], list[Row]]) -> Plant:
    return of_journal(lambda journal: replace(journal, rows=tuple(change(list(journal.rows)))))


def at_row(find: Callable[[Body], bool], change: Callable[[Row], Row], nth: int = 0) -> Plant:
    """The nth row of that kind is another."""

    def changed(rows: list[Row]) -> list[Row]:
        found = [row.seq for row in rows if find(row.entry)][nth]
        return [change(row) if row.seq == found else row for row in rows]

    return of_rows(changed)


def in_body(find: Callable[[Body], bool], change: Callable[[Any], None], nth: int = 0) -> Plant:
    """Something in the body of the nth row of that kind is another."""

    def changed(row: Row) -> Row:
        body = decode_body(row.body)
        change(body)
        return replace(row, body=encode_body(body))

    return at_row(find, changed, nth)


def of_log(change: Callable[[ClientLog], None]) -> Plant:
    def planted(history: History) -> History:
        log = deepcopy(history.clients[0])
        change(log)
        return replace(history, clients=(log,))

    return planted


def is_move(body: Body) -> bool:
    return isinstance(body, Moved)


def is_bid(body: Body) -> bool:
    return isinstance(body, Moved) and body.events[0][0] == "bid"


def is_deal(body: Body) -> bool:
    return isinstance(body, Drawn)


def event(body: Any, kind: str) -> list[Any]:
    found: list[Any]
    [found] = [each for each in body.events if each[0] == kind]
    return found


def lost_row(rows: list[Row]) -> list[Row]:
    return rows[:50] + rows[51:]


def first_card_twice(body: Any) -> None:
    hands = event(body, "dealt")[5]
    hands[0] = hands[1][:2] + hands[0][2:]


def other_turn_up(body: Any) -> None:
    dealt = event(body, "dealt")
    dealt[4] = "2C" if dealt[4] is None else None


def other_dealer(body: Any) -> None:
    dealt = event(body, "dealt")
    dealt[3] = (dealt[3] + 1) % 6


def swapped_hands(body: Any) -> None:
    hands = event(body, "dealt")[5]
    hands[0], hands[1] = hands[1], hands[0]


def even_bid(history: History) -> History:
    """The last bid of the first deal makes it come out even: the rules' one forbidden bid."""
    rows = list(history.journals[TABLE].rows)
    size = event(rows[1].entry, "dealt")[2]
    bids = [row for row in rows if is_bid(row.entry)][:6]
    before = sum(row.entry.events[0][2] for row in bids[:5] if isinstance(row.entry, Moved))

    def change(body: Any) -> None:
        body.events[0][2] = size - before

    return in_body(is_bid, change, 5)(history)


def other_bid(body: Any) -> None:
    body.events[0][2] = 9


def other_seat(body: Any) -> None:
    body.events[0][1] = (body.events[0][1] + 1) % 6


def told_twice_otherwise(log: ClientLog) -> None:
    operation = next(iter(log.operations.values()))
    operation.acks.append((operation.acks[0][0], operation.acks[0][1] + 1))


def told_of_another_row(log: ClientLog) -> None:
    operation = next(iter(log.operations.values()))
    operation.acks[:] = [(at, seq + 1) for at, seq in operation.acks]


def told_of_a_row_to_come(log: ClientLog) -> None:
    at, delta = log.deltas[-1]
    log.deltas.append((at, msgspec.structs.replace(delta, seq=delta.seq + 1)))


def told_another_epoch(log: ClientLog) -> None:
    at, delta = log.deltas[10]
    log.deltas[10] = (at, msgspec.structs.replace(delta, epoch=delta.epoch + 1))


def told_another_card(log: ClientLog) -> None:
    at, delta = next(each for each in log.deltas if each[1].by == "bot")
    place = [each for each, _ in log.deltas].index(at)
    log.deltas[place] = (at, msgspec.structs.replace(delta, events=[]))


def saw_another_table(log: ClientLog) -> None:
    log.views[20] = log.views[21]


def was_shown_another_table(log: ClientLog) -> None:
    at, snapshot = log.snapshots[0]
    log.snapshots[0] = (at, msgspec.structs.replace(snapshot, view=snapshot.view | {"turn": 0}))


def was_answered_in_another_order(log: ClientLog) -> None:
    first, second = list(log.operations.values())[:2]
    first.invoked_at, second.acks[:] = 900.0, [(800.0, second.acks[0][1])]


FAULTS: dict[str, tuple[str, Plant]] = {
    "a row is missing": ("J1", of_rows(lost_row)),
    "the head counts a row that is not there": (
        "J1",
        of_journal(lambda journal: replace(journal, next_seq=journal.next_seq + 1)),
    ),
    "an old owner wrote after the new one": ("J2", at_row(is_move, lambda row: replace(row, epoch=1), 60)),
    "a command stands twice": (
        "J3",
        of_rows(lambda rows: [*rows[:-1], replace(rows[-1], command_id=rows[-2].command_id)]),
    ),
    "a command was acknowledged as two rows": ("J3", of_log(told_twice_otherwise)),
    "an acknowledged move is another row": ("J4", of_log(told_of_another_row)),
    "a later command stands before an answered one": ("J4", of_log(was_answered_in_another_order)),
    "a row was told that was never committed": ("J5", of_log(told_of_a_row_to_come)),
    "a row was told in the name of another epoch": ("J5", of_log(told_another_epoch)),
    "a row was told otherwise than it stands": ("J5", of_log(told_another_card)),
    "a client sees another table": ("J6", of_log(saw_another_table)),
    "a snapshot shows another table": ("J6", of_log(was_shown_another_table)),
    "a bid out of range": ("J8", in_body(is_bid, other_bid)),
    "a move out of turn": ("J8", in_body(is_move, other_seat, 3)),
    "a deal that the secret does not give": ("J8", in_body(is_deal, swapped_hands, 1)),
    "a card dealt twice": ("J9", in_body(is_deal, first_card_twice, 1)),
    "a turn-up where there is none, or none": ("J9", in_body(is_deal, other_turn_up, 1)),
    "nobody owns a live table": (
        "J10",
        of_journal(lambda journal: replace(journal, status="live", owner="")),
    ),
    "no row since the repair": (
        "J10",
        lambda history: replace(
            of_journal(lambda journal: replace(journal, status="live"))(history),
            healed_at=BEGAN + timedelta(days=1),
        ),
    ),
    "a game that never ends": ("J11", of_journal(lambda journal: replace(journal, status="live"))),
    "an event that stays in the outbox": ("J12", lambda history: replace(history, unpublished=1)),
    "an end that was published twice": (
        "J12",
        of_journal(lambda journal: replace(journal, events=(*journal.events, "game_finished"))),
    ),
    "a round that was not published": (
        "J12",
        of_journal(lambda journal: replace(journal, events=journal.events[:-1])),
    ),
    "a row by an owner whose time was over": (
        "J14",
        of_journal(lambda journal: replace(journal, owned_at=journal.rows[TAKEN_AT - 3].at)),
    ),
    "a row of an epoch to come": ("J14", at_row(is_move, lambda row: replace(row, epoch=3), -1)),
    "a dealer out of turn": ("J15", in_body(is_deal, other_dealer, 2)),
    "a deal too few": ("J15", of_rows(lambda rows: [row for row in rows if not is_deal(row.entry)] + rows[1:2])),
    "bids that come out even": ("J15", even_bid),
}


def test_a_sound_history_has_no_complaint() -> None:
    history = played()
    assert complaints(history) == []
    assert folding.refolded(history) == []
    assert len(history.clients[0].acknowledged()) > 25


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_called_by_its_name(fault: str) -> None:
    name, plant = FAULTS[fault]
    found = complaints(plant(played()))
    assert name in {line.split()[0].rstrip(":") for line in found}, found


def test_j7_another_fold_elsewhere_is_called_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "digest_of", lambda journals: "another")
    assert [line.split(":")[0] for line in folding.refolded(played())] == ["J7"] * len(folding.HASH_SEEDS)


def test_commands_that_overlap_may_stand_in_any_order() -> None:
    first, second = list(deepcopy(played().clients[0]).operations.values())[:2]
    first.invoked_at, first.acks[:] = 0.0, [(10.0, 7)]
    second.invoked_at, second.acks[:] = 1.0, [(9.0, 5)]
    assert answers.out_of_order([first, second]) == []
    second.invoked_at = 10.5
    second.acks[:] = [(11.0, 5)]
    assert len(answers.out_of_order([first, second])) == 1
