"""Rooms, levels, VIP days, guests, funds (P2, P7, P8, P9, P42), and table ids."""

from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from libs.chassis.errors import DomainError
from libs.house.modes import Coffee
from services.matchmaking.domain.admission import (
    Assets,
    Visitor,
    admit,
    check_funds,
    check_name,
    closed_reason,
    linkage_of,
)
from services.matchmaking.domain.ids import AccountId, TableId, TicketId
from services.matchmaking.domain.matches import Match, MatchState, VipDays, players_of, shut_out
from services.matchmaking.domain.tickets import DROP_SHOWN, IDLE, Ticket, TicketState, Tier, place_of
from tests.services.matchmaking.world import KEY, PLATFORM, RICH, a_wish

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
MASTER = Visitor(guest=False, level=40, vip_day=True)


@pytest.mark.parametrize(
    ("visitor", "room", "coffee", "reason"),
    [
        (MASTER, 12, Coffee.X5, ""),
        (Visitor(guest=True, level=1, vip_day=False), 1, Coffee.NONE, ""),
        (Visitor(guest=True, level=40, vip_day=False), 2, Coffee.NONE, "GUESTS_ROOM_1_ONLY"),
        (Visitor(guest=True, level=1, vip_day=False), 1, Coffee.X2, "GUESTS_HAVE_NO_COFFEE"),
        (Visitor(guest=False, level=1, vip_day=True), 2, Coffee.NONE, "LEVEL_TOO_LOW"),
        (Visitor(guest=False, level=3, vip_day=True), 3, Coffee.NONE, "LEVEL_TOO_LOW"),
        (Visitor(guest=False, level=4, vip_day=False), 3, Coffee.NONE, ""),
        (Visitor(guest=False, level=40, vip_day=False), 6, Coffee.NONE, "NOT_A_VIP_DAY"),
        (Visitor(guest=False, level=40, vip_day=False), 10, Coffee.NONE, "NOT_A_VIP_DAY"),
        (Visitor(guest=False, level=40, vip_day=False), 11, Coffee.NONE, ""),
        (Visitor(guest=False, level=40, vip_day=False), 12, Coffee.NONE, "NOT_A_VIP_DAY"),
    ],
)
def test_p2_p7_p42_who_may_enter_which_room(visitor: Visitor, room: int, coffee: Coffee, reason: str) -> None:
    assert _reason(lambda: admit(visitor, PLATFORM.room(room), coffee)) == reason


@pytest.mark.parametrize(
    ("assets", "room", "coffee", "covered"),
    [
        (Assets(), 1, Coffee.NONE, True),
        (Assets(), 1, Coffee.X2, False),
        (Assets(cups={Coffee.X3: 1}), 1, Coffee.X2, False),
        (Assets(cups={Coffee.X2: 1}), 1, Coffee.X2, True),
        (Assets(coins=99), 2, Coffee.NONE, False),
        (Assets(coins=100), 2, Coffee.NONE, True),
        (Assets(coins=100_000, bars=9), 11, Coffee.NONE, False),
        (Assets(coins=100_000, bars=10), 11, Coffee.NONE, True),
    ],
)
def test_p8_p9_the_entry_must_be_covered(assets: Assets, room: int, coffee: Coffee, covered: bool) -> None:
    reason = _reason(lambda: check_funds(assets, PLATFORM.room(room), coffee))
    assert reason == ("" if covered else "INSUFFICIENT_FUNDS")


def test_p9_the_room_list_says_why_a_door_is_closed() -> None:
    beginner = Visitor(guest=False, level=4, vip_day=False)
    reasons = [closed_reason(beginner, room, Assets(coins=100)) for room in PLATFORM.rooms]
    assert reasons == ["", "", "INSUFFICIENT_FUNDS", *["LEVEL_TOO_LOW"] * 9]
    assert {closed_reason(MASTER, room, RICH) for room in PLATFORM.rooms} == {""}
    assert closed_reason(beginner, PLATFORM.room(3), None) == ""


@pytest.mark.parametrize("name", ["", "   ", "x" * 33, "a\nb", "a\x00b"])
def test_a_name_that_no_table_could_show_is_refused(name: str) -> None:
    assert _reason(lambda: check_name(name)) == "BAD_NAME"


def test_p7_vip_is_read_again_at_the_deal() -> None:
    days = VipDays(key=KEY, zone=PLATFORM.zone)
    match = _match(room=6)
    days_of_week = [match.created_at + timedelta(days=ahead) for ahead in range(7)]
    shut = [shut_out(_match(room=6, at=day), PLATFORM, days) for day in days_of_week]
    account_id = match.tickets[0].wish.account_id
    assert sorted(map(len, shut)) == [0, 0, 1, 1, 1, 1, 1]
    assert {account_id: "NOT_A_VIP_DAY"} in shut
    assert [not each for each in shut] == [days.today(account_id, day, guest=False) for day in days_of_week]
    assert not any(shut_out(_match(room=5, at=day), PLATFORM, days) for day in days_of_week)


def test_p13_a_vip_day_is_a_day_of_the_platforms_zone_whichever_it_is() -> None:
    bucharest, auckland = (VipDays(key=KEY, zone=ZoneInfo(name)) for name in ("Europe/Bucharest", "Pacific/Auckland"))
    account_id = AccountId(UUID(int=1))
    monday = datetime(2026, 11, 30, tzinfo=UTC)
    for day in range(7):
        noon, next_noon = (monday + timedelta(days=ahead, hours=12) for ahead in (day, day + 1))
        here = bucharest.today(account_id, next_noon, guest=False)
        assert auckland.today(account_id, noon, guest=False) == here, "at noon UTC the next day has begun there"


def test_p13_hints_come_with_the_vip_day_but_never_to_guests() -> None:
    days = VipDays(key=KEY, zone=PLATFORM.zone)
    hints = [players_of(_match(at=NOW + timedelta(days=ahead)), days)[0].hints for ahead in range(7)]
    assert sum(hints) == 2
    guests = [players_of(_match(at=NOW + timedelta(days=ahead), guest=True), days)[0].hints for ahead in range(7)]
    assert not any(guests)


def test_p8_a_drop_is_told_for_a_minute_and_then_forgotten() -> None:
    ticket = _ticket(state=TicketState.DROPPED, dropped_reason="INSUFFICIENT_FUNDS")
    pace = PLATFORM.matchmaking
    assert place_of(ticket, NOW + DROP_SHOWN - timedelta(seconds=1), pace).ticket == ticket
    assert place_of(ticket, NOW + DROP_SHOWN, pace) == IDLE
    assert place_of(_ticket(state=TicketState.CANCELLED), NOW, pace) == IDLE


def test_p3_a_waiting_place_tells_how_long_the_table_waits_yet() -> None:
    place = place_of(_ticket(), NOW + timedelta(milliseconds=9_400), PLATFORM.matchmaking, seats_filled=3)
    assert (place.deals_at, place.remaining_ms, place.seats_filled) == (NOW + timedelta(seconds=10), 600, 3)
    assert place_of(_ticket(), NOW + timedelta(seconds=11), PLATFORM.matchmaking).remaining_ms == 0


def test_x12_a_linkage_tells_neighbours_and_not_where_they_are() -> None:
    home, other = linkage_of(b"\x05\x02\x97", KEY), linkage_of(bytes(8), KEY)
    assert home == linkage_of(b"\x05\x02\x97", KEY) and len({home, other, linkage_of(b"\x05\x02\x98", KEY)}) == 3
    assert home != linkage_of(b"\x05\x02\x97", b"another key") and b"\x05\x02\x97" not in home
    assert linkage_of(b"", KEY) == b""
    for wrong in (b"\x05", bytes(4), bytes(16)):
        assert _reason(lambda wrong=wrong: linkage_of(wrong, KEY)) == "BAD_NETWORK"


def _reason(check: object) -> str:
    assert callable(check)
    try:
        check()
    except DomainError as error:
        return error.reason
    return ""


def _ticket(**change: object) -> Ticket:
    plain: dict[str, object] = {
        "ticket_id": TicketId(UUID(int=1)),
        "wish": a_wish(AccountId(UUID(int=2))),
        "tier": Tier.JACK,
        "created_at": NOW,
        "changed_at": NOW,
    }
    return Ticket(**{**plain, **change})  # type: ignore[arg-type] # a builder


def _match(room: int = 1, at: datetime = NOW, *, guest: bool = False) -> Match:
    wish = a_wish(AccountId(UUID(int=2)), room=room, guest=guest)
    ticket = _ticket(wish=wish, state=TicketState.MATCHED, table_id=TableId(UUID(int=3)))
    return Match(
        table_id=TableId(UUID(int=3)),
        mode=wish.mode,
        state=MatchState.FORMING,
        created_at=at,
        tickets=(ticket,),
    )
