"""How often one may ask and guess (P40), exactly, also when all ask at once."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.house.platform import load
from services.auth.domain.errors import CodeWrong, NetworkInvalid, RateLimited, SignInPaused
from services.auth.domain.limits import DAY, HOUR, Limit, fail_delay
from services.auth.handlers.guests import CreateGuest, create_guest
from tests.services.auth.builders import Office, fresh_network, outcomes, wrong

HOME = "203.0.113.9"


def retry_after(refusal: pytest.ExceptionInfo[RateLimited]) -> int:
    seconds = refusal.value.facts["retry_after_seconds"]
    assert isinstance(seconds, int)
    return seconds


async def test_p40_one_code_a_minute_to_an_address(office: Office) -> None:
    await office.ask("ana@example.com")

    with pytest.raises(RateLimited) as refusal:
        await office.ask("ana@example.com")
    assert 58 <= retry_after(refusal) <= 60
    await office.age(timedelta(seconds=61))
    await office.ask("ana@example.com")


async def test_a3_one_mailbox_has_one_budget_by_whatever_tag_it_is_written_to(office: Office) -> None:
    await office.ask("ana@example.com")

    _, reasons = await outcomes([office.ask(f"ana+{tag}@example.com") for tag in ("1", "2", "a+b", "")])
    assert set(reasons) == {"RATE_LIMITED"}
    assert await office.count("mail_queue") == 1
    await office.ask("anna@example.com")
    await office.age(timedelta(seconds=61))
    await office.ask("ana+1@example.com")


async def test_p40_five_codes_an_hour_and_twenty_a_day_to_an_address(office: Office) -> None:
    sent = 0
    for _ in range(5):
        for _ in range(5):
            answers, _ = await outcomes([office.ask("ana@example.com")])
            sent += len(answers)
            await office.age(timedelta(seconds=61))
        if sent < 20:
            with pytest.raises(RateLimited) as refusal:
                await office.ask("ana@example.com")
            assert 3000 <= retry_after(refusal) <= 3600
        await office.age(timedelta(hours=1))
    assert sent == 20
    with pytest.raises(RateLimited) as refusal:
        await office.ask("ana@example.com")
    assert retry_after(refusal) > 17 * 3600
    assert await office.count("attempt_window", "cardinality(moments) > 20") == 0


async def test_p40_thirty_who_ask_at_once_for_one_address_get_one_code_sent(office: Office) -> None:
    answers, reasons = await outcomes([office.ask("ana@example.com") for _ in range(30)])

    assert len(answers) == 1
    assert reasons == ["RATE_LIMITED"] * 29
    assert await office.count("mail_queue") == 1


@pytest.mark.parametrize(
    ("first", "same", "other"),
    [
        ("198.51.100.1", "198.51.100.200", "198.51.101.1"),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:3::1"),
        ("::ffff:198.51.100.1", "198.51.100.7", "::ffff:198.51.101.1"),
    ],
)
async def test_p40_twenty_codes_an_hour_from_a_network(office: Office, first: str, same: str, other: str) -> None:
    answers, reasons = await outcomes([office.ask(f"player{n}@example.com", (first, same)[n % 2]) for n in range(30)])

    assert len(answers) == 20
    assert reasons == ["RATE_LIMITED"] * 10
    await office.ask("elsewhere@example.com", other)
    await office.age(timedelta(hours=1, seconds=1))
    await office.ask("later@example.com", same)


@pytest.mark.parametrize("network", ["", "localhost", "1.2.3", "1.2.3.4/24", "unix:", "::g"])
async def test_what_is_no_network_is_refused(office: Office, network: str) -> None:
    command = CreateGuest(device="", network=network, request_id=bytes(16))
    with pytest.raises(NetworkInvalid):
        await create_guest(command, desk=office.desk)


async def test_a_refused_request_is_not_counted_against_its_network(office: Office) -> None:
    await office.ask("ana@example.com", "198.51.100.1")
    await outcomes([office.ask("ana@example.com", "198.51.100.1") for _ in range(30)])

    answers, _ = await outcomes([office.ask(f"player{n}@example.com", "198.51.100.1") for n in range(30)])
    assert len(answers) == 19


async def guess_wrong(office: Office, email: str, tries: int = 5) -> tuple[bytes, str]:
    """Ask for a code and spoil so many tries of it."""
    login, code = await office.ask_code(email)
    for n in range(1, tries + 1):
        with pytest.raises(CodeWrong):
            await office.finish(login.login_id, wrong(code, n))
    return login.login_id, code


async def test_p40_after_ten_wrong_codes_in_an_hour_each_try_waits_longer(office: Office) -> None:
    await guess_wrong(office, "ana@example.com")
    await office.age(timedelta(seconds=61))
    await guess_wrong(office, "ana@example.com")
    await office.age(timedelta(seconds=61))
    login_id, code = await guess_wrong(office, "ana@example.com", tries=1)

    for _ in range(6):
        with pytest.raises(RateLimited) as refusal:
            await office.finish(login_id, code)
        assert 55 <= retry_after(refusal) <= 60
    await office.age(timedelta(seconds=61))
    with pytest.raises(CodeWrong) as wrong_again:
        await office.finish(login_id, wrong(code))
    assert wrong_again.value.facts == {"tries_left": 3}
    with pytest.raises(RateLimited) as refusal:
        await office.finish(login_id, code)
    assert 115 <= retry_after(refusal) <= 120
    await office.age(timedelta(seconds=121))
    assert (await office.finish(login_id, code)).created


def test_p40_the_delay_doubles_from_30_seconds_to_an_hour() -> None:
    assert [fail_delay(n, load().sign_in).total_seconds() for n in (0, 9, 10, 11, 12, 16, 17, 18, 1000)] == [
        0, 0, 30, 60, 120, 1920, 3600, 3600, 3600,
    ]  # fmt: skip


async def test_b28_fifty_wrong_codes_a_day_and_no_more(office: Office) -> None:
    evaluated = 0
    for _ in range(4):
        for _ in range(5):
            login, code = await office.ask_code("ana@example.com")
            for n in range(1, 7):
                _, reasons = await outcomes([office.finish(login.login_id, wrong(code, n))])
                evaluated += reasons == ["CODE_WRONG"]
                # What the delays ask for is waited out wherever the code's life allows it.
                await office.age(timedelta(seconds=70))
            await office.age(timedelta(seconds=10))
        await office.age(timedelta(minutes=50))
    assert 20 < evaluated <= 50


async def test_b28_the_fifty_first_wrong_code_of_a_day_waits_for_the_next(office: Office) -> None:
    login, code = await office.ask_code("ana@example.com")
    async with office.store.transaction() as tx:
        for _ in range(50):
            await tx.note_attempt(office.desk.pepper.subject(b"fails", b"ana@example.com"))
    await office.age(timedelta(minutes=9))
    with pytest.raises(RateLimited) as refusal:
        await office.finish(login.login_id, code)
    assert retry_after(refusal) > 3600

    await office.age(timedelta(hours=24))
    assert (await office.sign_in("ana@example.com")).created


async def test_b28_a_stranger_cannot_lock_the_owner_out(office: Office) -> None:
    owner = await office.sign_in("ana@example.com", HOME)
    await office.age(timedelta(minutes=5))
    async with office.store.transaction() as tx:
        for _ in range(50):
            await tx.note_attempt(office.desk.pepper.subject(b"fails", b"ana@example.com"))
    for _ in range(5):
        await outcomes([office.ask("ana@example.com") for _ in range(3)])
        await office.age(timedelta(seconds=61))
    with pytest.raises(RateLimited):
        await office.ask("ana@example.com")

    again = await office.sign_in("ana@example.com", HOME)
    assert again.account.account_id == owner.account.account_id


async def test_the_owners_network_has_limits_of_its_own(office: Office) -> None:
    await office.sign_in("ana@example.com", HOME)
    await office.age(timedelta(minutes=5))

    answers, reasons = await outcomes([office.ask("ana@example.com", HOME) for _ in range(10)])
    assert (len(answers), len(reasons)) == (1, 9)


async def test_a_home_is_forgotten_after_half_a_year_and_beyond_ten(office: Office) -> None:
    first = await office.sign_in("ana@example.com", HOME)
    async with office.store.transaction() as tx:
        home = office.desk.pepper.subject(b"home", b"4" + bytes([203, 0, 113]))
        assert await tx.is_home("ana@example.com", home, timedelta(days=180))
        for n in range(9):
            await tx.add_home(first.account.account_id, bytes([n]) * 32)
        assert await tx.is_home("ana@example.com", home, timedelta(days=180))
        await tx.add_home(first.account.account_id, bytes([99]) * 32)
        await tx.drop_homes(first.account.account_id, 10)
        assert not await tx.is_home("ana@example.com", home, timedelta(days=180))
    await office.age(timedelta(days=181))
    async with office.store.transaction() as tx:
        assert not await tx.is_home("ana@example.com", bytes([99]) * 32, timedelta(days=180))


async def test_a_right_code_forgives_the_wrong_ones(office: Office) -> None:
    await guess_wrong(office, "ana@example.com")
    await office.age(timedelta(seconds=61))
    login, code = await office.ask_code("ana@example.com")
    await outcomes([office.finish(login.login_id, wrong(code, n)) for n in range(1, 5)])
    await office.finish(login.login_id, code)
    await office.age(timedelta(seconds=61))

    login_id, code = await guess_wrong(office, "ana@example.com", tries=4)
    assert not (await office.finish(login_id, code)).created


async def test_the_breaker_stops_all_codes_when_too_many_were_asked_for(office: Office) -> None:
    desk = replace(office.desk, codes_in_all=3)
    for n in range(3):
        await office.ask(f"player{n}@example.com", desk=desk)

    with pytest.raises(SignInPaused):
        await office.ask("one.more@example.com", desk=desk)
    await office.age(timedelta(hours=1, seconds=1))
    await office.ask("one.more@example.com", desk=desk)


async def test_p42_guests_from_one_network_are_limited_exactly(office: Office) -> None:
    desk = replace(office.desk, guests=Limit(5, HOUR))
    network = fresh_network()

    answers, reasons = await outcomes([office.guest(network=network, desk=desk) for _ in range(20)])

    assert len(answers) == 5
    assert reasons == ["RATE_LIMITED"] * 15
    assert await office.count("account") == 5
    await office.guest(desk=desk)
    await office.age(timedelta(hours=1, seconds=1))
    await office.guest(network=network, desk=desk)


LIMITS = (Limit(1, timedelta(seconds=60)), Limit(3, HOUR), Limit(5, DAY))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pauses=st.lists(st.sampled_from([0, 35, 70, 1300, 4000, 30_000]), max_size=25))
async def test_limits_hold_in_every_stretch_of_time(shared_office: Office, pauses: list[int]) -> None:
    await shared_office.clear()
    counted: list[int] = []
    now = 0
    for pause in pauses:
        now += pause
        if pause:
            await shared_office.age(timedelta(seconds=pause))
        allowed = all(
            sum(moment > now - limit.period.total_seconds() for moment in counted) < limit.maximum for limit in LIMITS
        )
        async with shared_office.store.transaction() as tx:
            wait = await tx.count_attempt(bytes(32), LIMITS)
        assert (wait is None) == allowed
        if allowed:
            counted.append(now)
        else:
            assert wait is not None
            assert timedelta(0) < wait <= DAY
