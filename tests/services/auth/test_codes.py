"""Signing in with an e-mailed code (P40)."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from libs.chassis.errors import DomainError
from services.auth.domain.errors import CodeMalformed, CodeSpent, CodeWrong, DeviceInvalid, EmailInvalid, IdInvalid
from tests.services.auth.builders import Office, is_suggested, outcomes, wrong


async def test_p40_a_code_signs_in_and_the_first_time_makes_the_account(office: Office) -> None:
    first = await office.sign_in("ana@example.com")
    await office.age(timedelta(minutes=2))
    second = await office.sign_in("ana@example.com")

    assert (first.created, second.created) == (True, False)
    assert first.account == second.account or first.account.account_id == second.account.account_id
    assert not first.account.guest
    assert is_suggested(first.account.name)
    (created,) = await office.events("account_created")
    assert created.account_created.account_id == first.account.account_id.bytes
    assert created.account_created.name == first.account.name
    assert not created.account_created.guest


async def test_p40_the_mail_brings_eight_digits(office: Office) -> None:
    _, code = await office.ask_code("ana@example.com")

    assert len(code) == 8
    assert code.isdecimal()


async def test_p40_an_address_is_one_account_however_it_is_spelled(office: Office) -> None:
    first = await office.sign_in("Ana.Pop@Example.COM")
    await office.age(timedelta(minutes=2))
    second = await office.sign_in("ana.pop@example.com")

    assert first.account.account_id == second.account.account_id
    assert await office.count("account") == 1


async def test_p40_a_code_is_good_once(office: Office) -> None:
    login, code = await office.ask_code("ana@example.com")
    await office.finish(login.login_id, code)

    with pytest.raises(CodeSpent):
        await office.finish(login.login_id, code)
    with pytest.raises(CodeSpent):
        await office.finish(login.login_id, code, request_id=bytes(16))
    assert await office.count("session") == 1


async def test_p40_a_code_used_by_twenty_at_once_opens_one_session(office: Office) -> None:
    login, code = await office.ask_code("ana@example.com")

    answers, reasons = await outcomes([office.finish(login.login_id, code) for _ in range(20)])

    assert len(answers) == 1
    assert reasons == ["CODE_SPENT"] * 19
    assert await office.count("session") == 1
    assert len(await office.events("account_created")) == 1


async def test_p40_a_request_sent_again_is_answered_with_the_same_session(office: Office) -> None:
    login, code = await office.ask_code("ana@example.com")
    request_id = office.entropy.bytes(16)

    answers, reasons = await outcomes([office.finish(login.login_id, code, request_id=request_id) for _ in range(10)])
    later = await office.finish(login.login_id, code, request_id=request_id)

    assert not reasons
    assert len({answer.tokens.refresh_token for answer in [*answers, later]}) == 1
    assert all(answer.created for answer in [*answers, later])
    assert await office.count("session") == 1


async def test_p40_a_request_sent_again_opens_nothing_after_ten_seconds_or_once_its_token_is_used(
    office: Office,
) -> None:
    login, code = await office.ask_code("ana@example.com")
    request_id = office.entropy.bytes(16)
    answer = await office.finish(login.login_id, code, request_id=request_id)

    await office.age(timedelta(seconds=11))
    with pytest.raises(CodeSpent):
        await office.finish(login.login_id, code, request_id=request_id)

    await office.age(timedelta(minutes=2))
    login, code = await office.ask_code("ana@example.com")
    answer = await office.finish(login.login_id, code, request_id=request_id)
    await office.refresh(answer.tokens.refresh_token)
    with pytest.raises(CodeSpent):
        await office.finish(login.login_id, code, request_id=request_id)


async def test_p40_a_repeated_request_with_another_code_is_no_repetition(office: Office) -> None:
    login, code = await office.ask_code("ana@example.com")
    request_id = office.entropy.bytes(16)
    await office.finish(login.login_id, code, request_id=request_id)

    with pytest.raises(CodeSpent):
        await office.finish(login.login_id, wrong(code), request_id=request_id)


async def test_p40_five_tries_and_then_even_the_right_code_is_spent(office: Office) -> None:
    login, code = await office.ask_code("ana@example.com")

    for left in (4, 3, 2, 1, 0):
        with pytest.raises(CodeWrong) as refusal:
            await office.finish(login.login_id, wrong(code))
        assert refusal.value.facts == {"tries_left": left}
    with pytest.raises(CodeSpent):
        await office.finish(login.login_id, code)
    assert await office.count("account") == 0


async def test_p40_the_fifth_try_may_be_right(office: Office) -> None:
    login, code = await office.ask_code("ana@example.com")
    await outcomes([office.finish(login.login_id, wrong(code, n)) for n in range(1, 5)])

    assert (await office.finish(login.login_id, code)).created


async def test_b28_of_a_hundred_parallel_guesses_five_are_evaluated(office: Office) -> None:
    login, code = await office.ask_code("ana@example.com")

    answers, reasons = await outcomes([office.finish(login.login_id, wrong(code, n)) for n in range(1, 101)])

    assert not answers
    assert sorted(reasons) == ["CODE_SPENT"] * 95 + ["CODE_WRONG"] * 5


async def test_p40_a_code_is_bound_to_the_browser_that_asked(office: Office) -> None:
    _, victims_code = await office.ask_code("ana@example.com")
    attackers, attackers_code = await office.ask_code("eve@example.com")

    with pytest.raises(CodeSpent):
        await office.finish(office.entropy.bytes(16), victims_code)
    if attackers_code != victims_code:
        with pytest.raises(CodeWrong):
            await office.finish(attackers.login_id, victims_code)


async def test_p40_a_new_code_voids_the_old_one(office: Office) -> None:
    old, old_code = await office.ask_code("ana@example.com")
    await office.age(timedelta(seconds=61))
    new, new_code = await office.ask_code("ana@example.com")

    with pytest.raises(CodeSpent):
        await office.finish(old.login_id, old_code)
    assert (await office.finish(new.login_id, new_code)).created


@pytest.mark.parametrize(("minutes", "works"), [(9.8, True), (10.1, False)])
async def test_p40_a_code_lives_ten_minutes(office: Office, minutes: float, works: bool) -> None:
    login, code = await office.ask_code("ana@example.com")
    await office.age(timedelta(minutes=minutes))

    answers, reasons = await outcomes([office.finish(login.login_id, code)])

    assert (len(answers), reasons) == ((1, []) if works else (0, ["CODE_SPENT"]))


@pytest.mark.parametrize("code", ["", "1234567", "123456789", "1234567a", "１２３４５６７８", "12345678\n", "-1234567"])
async def test_what_is_no_code_is_refused_and_not_counted(office: Office, code: str) -> None:
    login, right = await office.ask_code("ana@example.com")

    for _ in range(6):
        with pytest.raises(CodeMalformed):
            await office.finish(login.login_id, code)
    assert (await office.finish(login.login_id, right)).created


@pytest.mark.parametrize("device", ["x" * 65, "line\nbreak", "zero\u0000", "turn\u202earound"])
async def test_a_device_that_cannot_be_shown_is_refused_and_the_code_stays(office: Office, device: str) -> None:
    login, code = await office.ask_code("ana@example.com")

    with pytest.raises(DeviceInvalid):
        await office.finish(login.login_id, code, device=device)
    assert (await office.finish(login.login_id, code, device="x" * 64)).created


@pytest.mark.parametrize("login_id", [b"", bytes(15), bytes(17), bytes(4096)])
async def test_a_login_id_of_the_wrong_size_is_refused(office: Office, login_id: bytes) -> None:
    with pytest.raises(IdInvalid):
        await office.finish(login_id, "12345678")


@pytest.mark.parametrize(
    "email",
    [
        "",
        "ana",
        "ana@",
        "@example.com",
        "ana@localhost",
        "ana@example..com",
        "a" * 65 + "@example.com",
        "ana@example.com\nBcc: eve@example.com",
        "ana@example.com,eve@example.com",
        "Ana <ana@example.com>",
        "ăna@example.com",
        "ana@[127.0.0.1]",
        "ana@" + "example." * 30_000 + "com",
    ],
)
async def test_what_is_no_address_is_refused_and_not_repeated(office: Office, email: str) -> None:
    with pytest.raises(EmailInvalid) as refusal:
        await office.ask(email)

    assert refusal.value.facts == {}
    assert await office.count("mail_queue") == 0
    assert await office.count("attempt_window") == 0


async def test_p40_asking_does_the_same_for_known_and_unknown_addresses(office: Office) -> None:
    await office.sign_in("known@example.com")
    await office.age(timedelta(minutes=2))
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        seen.append(statement)

    sa.event.listen(office.database.engine.sync_engine, "before_cursor_execute", note)
    try:
        known = await office.ask("known@example.com")
        for_known = list(seen)
        seen.clear()
        unknown = await office.ask("stranger@example.com")
    finally:
        sa.event.remove(office.database.engine.sync_engine, "before_cursor_execute", note)

    assert seen == for_known
    assert len(seen) > 5
    assert (len(known.login_id), len(unknown.login_id)) == (16, 16)
    assert await office.count("mail_queue") == 2


async def test_a2_a_wrong_code_is_refused_alike_for_known_and_unknown_addresses(office: Office) -> None:
    """Whoever has no code learns nothing, with a guest at hand or without."""
    await office.sign_in("known@example.com")
    await office.age(timedelta(minutes=2))
    guest = await office.guest()
    told: list[list[tuple[str, dict[str, object]]]] = []
    for address in ("known@example.com", "stranger@example.com"):
        login, code = await office.ask_code(address)
        refusals = []
        for drop in (False, True, False, True, False, True):
            with pytest.raises(DomainError) as refusal:
                await office.finish(login.login_id, wrong(code), guest=guest, drop_guest=drop)
            refusals.append((refusal.value.reason, dict(refusal.value.facts)))
        told.append(refusals)

    assert told[0] == told[1]
    assert [reason for reason, _ in told[0]] == ["CODE_WRONG"] * 5 + ["CODE_SPENT"]


async def test_asking_again_with_the_same_request_id_sends_one_mail(office: Office) -> None:
    request_id = office.entropy.bytes(16)

    answers, reasons = await outcomes([office.ask("ana@example.com", request_id=request_id) for _ in range(20)])

    assert not reasons
    assert len({answer.login_id for answer in answers}) == 1
    assert await office.count("mail_queue") == 1


async def test_n7_the_database_holds_no_code_and_no_token_in_clear_and_events_hold_no_address(office: Office) -> None:
    login = await office.ask("canary@example.com")
    waiting = await office.dump("mail_queue")
    await office.post.step()
    code = office.mailbox.letters[-1][1]
    answer = await office.finish(login.login_id, code)
    rotated = await office.refresh(answer.tokens.refresh_token)

    assert "canary@example.com" in waiting
    assert code not in waiting
    assert "canary@example.com" in await office.dump("account")
    for table in ("login", "account", "session", "spent_token", "attempt_window", "event", "outbox", "home_network"):
        text = await office.dump(table)
        for token in (answer.tokens, rotated.tokens):
            assert token.refresh_token not in text
            assert token.access_token not in text
        if table != "account":
            assert "canary" not in text
