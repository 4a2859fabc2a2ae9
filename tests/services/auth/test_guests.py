"""A guest who signs in: becomes the account, or is dropped for the one there is, once (P42, X20)."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
import sqlalchemy as sa

from libs.chassis.errors import DomainError
from services.auth.domain.accounts import SignedIn
from services.auth.domain.errors import (
    AccountUnknown,
    CodeSpent,
    CodeWrong,
    GuestWouldBeDropped,
    IdInvalid,
    RefreshInvalid,
)
from services.auth.handlers.accounts import get_account
from services.auth.handlers.signing_in import FinishLogin, finish_login
from tests.services.auth.builders import Office, fresh_network, outcomes, wrong


async def test_p42_a_new_address_makes_the_guest_the_account_with_id_and_name(office: Office) -> None:
    guest = await office.guest()
    login, code = await office.ask_code("ana@example.com")

    answer = await office.finish(login.login_id, code, guest=guest)

    assert answer.created and not answer.account.guest
    assert (answer.account.account_id, answer.account.name) == (guest.account.account_id, guest.account.name)
    (upgraded,) = await office.events("guest_upgraded")
    assert upgraded.guest_upgraded.account_id == guest.account.account_id.bytes
    assert upgraded.guest_upgraded.name == guest.account.name
    assert len(await office.events("account_created")) == 1  # the guest's own
    assert await get_account(guest.account.account_id, desk=office.desk) == answer.account
    await office.age(timedelta(minutes=2))
    again = await office.sign_in("ana@example.com")
    assert again.account.account_id == guest.account.account_id


async def test_p42_the_guests_own_session_is_renewed_no_more_and_nobody_is_told_to_close_a_socket(
    office: Office,
) -> None:
    guest = await office.guest()
    login, code = await office.ask_code("ana@example.com")
    await office.finish(login.login_id, code, guest=guest)

    with pytest.raises(RefreshInvalid):
        await office.refresh(guest.tokens.refresh_token)
    assert not await office.events("session_revoked")


async def test_p42_the_request_that_made_the_guest_does_not_open_the_account(office: Office) -> None:
    request_id = office.entropy.bytes(16)
    guest = await office.guest(request_id)
    login, code = await office.ask_code("ana@example.com")
    await office.finish(login.login_id, code, guest=guest)

    other = await office.guest(request_id)
    assert other.account.guest and other.account.account_id != guest.account.account_id


async def test_p42_a_known_address_warns_before_the_guest_is_dropped_and_the_code_stays_good(office: Office) -> None:
    account = await office.sign_in("ana@example.com")
    await office.age(timedelta(minutes=2))
    guest = await office.guest()
    login, code = await office.ask_code("ana@example.com")

    for _ in range(8):  # more than a code has tries: none is counted
        with pytest.raises(GuestWouldBeDropped):
            await office.finish(login.login_id, code, guest=guest)
    assert await office.count("login", "tries > 0") == 0
    await office.refresh(guest.tokens.refresh_token)
    answer = await office.finish(login.login_id, code, guest=guest, drop_guest=True)

    assert answer.account.account_id == account.account.account_id and not answer.created
    with pytest.raises(AccountUnknown):
        await get_account(guest.account.account_id, desk=office.desk)
    (deleted,) = await office.events("account_deleted")
    assert deleted.account_deleted.account_id == guest.account.account_id.bytes
    (revoked,) = await office.events("session_revoked")
    assert revoked.session_revoked.account_id == guest.account.account_id.bytes
    with pytest.raises(RefreshInvalid):
        await office.refresh(guest.tokens.refresh_token)


async def test_p42_a_wrong_code_tells_nothing_of_the_guest(office: Office) -> None:
    await office.sign_in("ana@example.com")
    await office.age(timedelta(minutes=2))
    guest = await office.guest()
    login, code = await office.ask_code("ana@example.com")

    with pytest.raises(CodeWrong):
        await office.finish(login.login_id, wrong(code), guest=guest)


async def test_x20_a_retried_upgrade_is_answered_alike_and_done_once(office: Office) -> None:
    guest = await office.guest()
    login, code = await office.ask_code("ana@example.com")
    request_id = office.entropy.bytes(16)

    answers, reasons = await outcomes(
        [office.finish(login.login_id, code, request_id=request_id, guest=guest) for _ in range(20)]
    )

    assert not reasons
    assert len({answer.tokens.refresh_token for answer in answers}) == 1
    assert {(answer.account.account_id, answer.created) for answer in answers} == {(guest.account.account_id, True)}
    assert len(await office.events("guest_upgraded")) == 1
    assert await office.count("account") == 1


async def test_x20_a_retried_drop_is_answered_alike_and_done_once(office: Office) -> None:
    account = await office.sign_in("ana@example.com")
    await office.age(timedelta(minutes=2))
    guest = await office.guest()
    login, code = await office.ask_code("ana@example.com")
    request_id = office.entropy.bytes(16)

    answers, reasons = await outcomes(
        [office.finish(login.login_id, code, request_id=request_id, guest=guest, drop_guest=True) for _ in range(20)]
    )

    assert not reasons
    assert {answer.account.account_id for answer in answers} == {account.account.account_id}
    assert len({answer.tokens.refresh_token for answer in answers}) == 1
    assert len(await office.events("account_deleted")) == 1


async def test_x20_two_addresses_race_for_one_guest_and_one_has_it(office: Office) -> None:
    for turn in range(10):
        await office.clear()
        guest = await office.guest()
        logins = [await office.ask_code(f"{name}@example.com") for name in ("ana", "dan", "eva")]

        answers, reasons = await outcomes([office.finish(login.login_id, code, guest=guest) for login, code in logins])

        assert not reasons, turn
        ids = [answer.account.account_id for answer in answers]
        assert len(set(ids)) == 3 and ids.count(guest.account.account_id) == 1
        assert len(await office.events("guest_upgraded")) == 1


async def test_x20_a_guest_signs_in_on_two_devices_with_one_address_once(office: Office) -> None:
    guest = await office.guest()
    login, code = await office.ask_code("ana@example.com")

    answers, reasons = await outcomes([office.finish(login.login_id, code, guest=guest) for _ in range(10)])

    assert len(answers) == 1
    assert set(reasons) == {"CODE_SPENT"}
    assert len(await office.events("guest_upgraded")) == 1


async def other_account(office: Office) -> SignedIn:
    return await office.sign_in("other@example.com")


async def dropped_guest(office: Office) -> SignedIn:
    guest = await office.guest()
    await office.age(timedelta(minutes=2))
    login, code = await office.ask_code("other@example.com")
    await office.finish(login.login_id, code)
    await office.age(timedelta(minutes=2))
    login, code = await office.ask_code("other@example.com")
    await office.finish(login.login_id, code, guest=guest, drop_guest=True)
    return guest


@pytest.mark.parametrize("not_a_guest", [other_account, dropped_guest])
async def test_p42_who_is_no_guest_any_more_is_left_alone(
    office: Office, not_a_guest: Callable[[Office], Awaitable[SignedIn]]
) -> None:
    before = await not_a_guest(office)
    login, code = await office.ask_code("ana@example.com")

    answer = await office.finish(login.login_id, code, guest=before)

    assert answer.created
    assert answer.account.account_id != before.account.account_id
    assert not await office.events("guest_upgraded")


async def test_p42_a_guest_that_nobody_made_is_left_alone_and_what_is_no_id_is_refused(office: Office) -> None:
    login, code = await office.ask_code("ana@example.com")
    for guest_id in (b"x", b"x" * 17):
        command = FinishLogin(login_id=login.login_id, code=code, device="", network=fresh_network(), guest_id=guest_id)
        with pytest.raises(IdInvalid):
            await finish_login(command, desk=office.desk)
    stranger = FinishLogin(
        login_id=login.login_id,
        code=code,
        device="",
        network=fresh_network(),
        guest_id=office.entropy.uuid7().bytes,
    )
    assert (await finish_login(stranger, desk=office.desk)).created
    with pytest.raises(CodeSpent):
        await finish_login(stranger, desk=office.desk)


async def test_p10_an_account_is_seen_once_a_day_and_a_guest_never(office: Office) -> None:
    guest = await office.guest()
    guest = await office.refresh(guest.tokens.refresh_token)
    assert not await office.events("account_seen")

    login, code = await office.ask_code("ana@example.com")
    account = await office.finish(login.login_id, code, guest=guest)
    await outcomes([office.refresh(account.tokens.refresh_token) for _ in range(10)])
    (seen,) = await office.events("account_seen")
    assert seen.account_seen.account_id == guest.account.account_id.bytes
    async with office.store.transaction() as tx:
        today = office.desk.day(await tx.now())
    assert seen.account_seen.day_id == today.isoformat()
    assert account.account.since is not None
    assert seen.account_seen.account_since.ToMicroseconds() == round(account.account.since.timestamp() * 1e6)
    # Before it the topic tells that there is an account to be seen.
    order = [kind for kind in await event_kinds(office) if kind in ("guest_upgraded", "account_seen")]
    assert order == ["guest_upgraded", "account_seen"]


async def test_p10_an_account_is_seen_again_on_the_next_day_also_by_its_refresh(office: Office) -> None:
    account = await office.sign_in("ana@example.com")
    await office.age(timedelta(days=1))

    answers, reasons = await outcomes([office.refresh(account.tokens.refresh_token) for _ in range(20)])

    assert not reasons and len({answer.tokens.refresh_token for answer in answers}) == 1
    assert len(await office.events("account_seen")) == 2


async def event_kinds(office: Office) -> list[str]:
    async with office.database.begin() as connection:
        return list((await connection.execute(sa.text("select type from auth.outbox order by id"))).scalars())


async def test_a_refusal_changes_nothing(office: Office) -> None:
    await office.sign_in("ana@example.com")
    await office.age(timedelta(minutes=2))
    guest = await office.guest()
    login, code = await office.ask_code("ana@example.com")
    before = [await office.dump(table) for table in ("account", "session", "login", "event")]

    with pytest.raises(DomainError):
        await office.finish(login.login_id, code, guest=guest)

    assert before == [await office.dump(table) for table in ("account", "session", "login", "event")]
