"""Devices, suspension, export and deletion of an account (P45, P82)."""

import json
from datetime import timedelta
from uuid import UUID

import pytest
import sqlalchemy as sa

from libs.chassis.audit import Act, ActDiffers
from services.auth.domain.accounts import SignedIn
from services.auth.domain.errors import (
    AccountSuspended,
    AccountUnknown,
    CodeSpent,
    RefreshInvalid,
    SessionUnknown,
    SignInNotFresh,
)
from services.auth.handlers.accounts import claim_name, get_account
from services.auth.handlers.deletion import delete_account, export_account
from services.auth.handlers.operators import audit_log, find_accounts, reinstate, suspend
from services.auth.handlers.sessions import list_sessions, revoke_session
from tests.services.auth.builders import TABLES, Office, outcomes, session_of

SECRETS = ("ana@example.com", "Ștefania", "Ana's tablet")


def act(office: Office, name: str, subject: str = "", *, request_id: UUID | None = None, why: str = "a test") -> Act:
    return Act(request_id=request_id or office.entropy.uuid7(), operator="dan", act=name, subject=subject, reason=why)


async def with_devices(office: Office, count: int) -> list[SignedIn]:
    """One account, signed in on so many devices, the first longest ago."""
    answers = []
    for number in range(count):
        login, code = await office.ask_code("ana@example.com")
        answers.append(await office.finish(login.login_id, code, device=f"Device {number}"))
        await office.age(timedelta(minutes=15))
    return answers


async def test_an_account_sees_its_devices_latest_used_first(office: Office) -> None:
    first, *_, last = await with_devices(office, 3)
    other = await office.sign_in("dan@example.com")
    await office.refresh(first.tokens.refresh_token)

    devices = await list_sessions(last.account.account_id, desk=office.desk)

    assert [device.device for device in devices] == ["Device 0", "Device 2", "Device 1"]
    assert all(device.created_at <= device.used_at < device.expires_at for device in devices)
    assert len(await list_sessions(other.account.account_id, desk=office.desk)) == 1
    assert not await list_sessions(office.entropy.uuid7(), desk=office.desk)


async def test_a_device_is_signed_out_by_its_owner_once_and_told(office: Office) -> None:
    first, last = await with_devices(office, 2)
    (_, phone) = await list_sessions(last.account.account_id, desk=office.desk)

    for _ in range(2):
        await revoke_session(last.account.account_id, phone.session_id, desk=office.desk)

    (revoked,) = await office.events("session_revoked")
    assert session_of(revoked) == phone.session_id
    with pytest.raises(RefreshInvalid):
        await office.refresh(first.tokens.refresh_token)
    await office.refresh(last.tokens.refresh_token)
    assert len(await list_sessions(last.account.account_id, desk=office.desk)) == 1


async def test_a6_nobody_signs_out_anothers_device(office: Office) -> None:
    ana, dan = await office.sign_in("ana@example.com"), await office.sign_in("dan@example.com")
    (device,) = await list_sessions(ana.account.account_id, desk=office.desk)

    for session_id in (device.session_id, office.entropy.uuid7()):
        with pytest.raises(SessionUnknown):
            await revoke_session(dan.account.account_id, session_id, desk=office.desk)
    await office.refresh(ana.tokens.refresh_token)


async def test_p82_a_suspended_account_is_shut_out_and_let_in_again(office: Office) -> None:
    first, last = await with_devices(office, 2)
    account_id = first.account.account_id

    await suspend(act(office, "suspend", account_id.hex), account_id, desk=office.desk)

    assert len(await office.events("session_revoked")) == 2
    (suspended,) = await office.events("account_suspended")
    assert suspended.account_suspended.account_id == account_id.bytes
    assert (await get_account(account_id, desk=office.desk)).suspended
    for _ in range(2):
        with pytest.raises(AccountSuspended):
            await office.refresh(last.tokens.refresh_token)
    login, code = await office.ask_code("ana@example.com")
    for _ in range(8):
        with pytest.raises(AccountSuspended):
            await office.finish(login.login_id, code)
    with pytest.raises(AccountSuspended):
        await claim_name(account_id, "Ana", desk=office.desk)
    assert await office.count("session", "ended_at is null") == 0

    await reinstate(act(office, "reinstate", account_id.hex), account_id, desk=office.desk)

    assert len(await office.events("account_reinstated")) == 1
    answer = await office.finish(login.login_id, code)
    assert answer.account.account_id == account_id and not answer.account.suspended
    with pytest.raises(RefreshInvalid):
        await office.refresh(last.tokens.refresh_token)


async def test_p82_a_suspended_guest_comes_back_neither_by_its_request_nor_by_signing_in(office: Office) -> None:
    request_id = office.entropy.bytes(16)
    guest = await office.guest(request_id)
    await suspend(act(office, "suspend"), guest.account.account_id, desk=office.desk)

    with pytest.raises(AccountSuspended):
        await office.guest(request_id)
    login, code = await office.ask_code("ana@example.com")
    with pytest.raises(AccountSuspended):
        await office.finish(login.login_id, code, guest=guest)
    assert not await office.events("guest_upgraded")


async def test_p82_no_sign_in_that_races_a_suspension_survives_it(office: Office) -> None:
    account = await office.sign_in("ana@example.com")
    for _ in range(8):
        await office.age(timedelta(hours=6))
        login, code = await office.ask_code("ana@example.com")
        account_id = account.account.account_id
        _, reasons = await outcomes(
            [
                office.finish(login.login_id, code),
                suspend(act(office, "suspend"), account_id, desk=office.desk),
                office.refresh(account.tokens.refresh_token),
            ]
        )
        assert set(reasons) <= {"ACCOUNT_SUSPENDED"}
        assert await office.count("session", "ended_at is null") == 0
        await reinstate(act(office, "reinstate"), account_id, desk=office.desk)
        await office.age(timedelta(minutes=2))
        account = await office.sign_in("ana@example.com")


async def test_p82_an_act_is_done_once_under_its_id_and_another_under_it_is_refused(office: Office) -> None:
    ana = await office.sign_in("ana@example.com")
    account_id = ana.account.account_id
    once = act(office, "suspend", account_id.hex)

    await outcomes([suspend(once, account_id, desk=office.desk) for _ in range(10)])
    await reinstate(act(office, "reinstate", account_id.hex), account_id, desk=office.desk)
    await suspend(once, account_id, desk=office.desk)  # the answer was lost: it is not done again

    assert not (await get_account(account_id, desk=office.desk)).suspended
    assert len(await office.events("account_suspended")) == 1
    with pytest.raises(ActDiffers):
        await reinstate(
            act(office, "reinstate", account_id.hex, request_id=once.request_id), account_id, desk=office.desk
        )
    lines = await audit_log(None, 10, desk=office.desk)
    assert [line.act.act for line in lines][:2] == ["reinstate", "suspend"]
    assert lines[1].act == once
    assert (await audit_log(lines[0].n, 1, desk=office.desk))[0] == lines[1]


async def test_p82_an_act_on_nobody_is_refused_and_leaves_no_line(office: Office) -> None:
    before = await office.count("audit")
    for what in (suspend, reinstate):
        with pytest.raises(AccountUnknown):
            await what(act(office, "suspend"), office.entropy.uuid7(), desk=office.desk)
    assert await office.count("audit") == before


async def test_p82_accounts_are_found_by_id_address_and_name_and_the_look_is_written_down(office: Office) -> None:
    ana = await office.sign_in("ana@example.com")
    await claim_name(ana.account.account_id, "Ștefania", desk=office.desk)
    gone = await office.sign_in("gone@example.com")
    await delete_account(gone.account.account_id, None, desk=office.desk)
    guest = await office.guest()

    async def found(words: str) -> list[str]:
        accounts = await find_accounts(act(office, "find"), words, desk=office.desk)
        return [f"{each.account.name} {each.email} {each.deleted} {each.sessions}" for each in accounts]

    whole = ["Ștefania ana@example.com False 1"]
    for words in (ana.account.account_id.hex, str(ana.account.account_id).upper(), " Ana@Example.com ", "ștefania"):
        assert await found(words) == whole, words
    assert await found(gone.account.account_id.hex) == ["deleted  True 0"]
    assert (await found(guest.account.account_id.hex))[0].endswith(" False 1")
    for words in ("", "gone@example.com", guest.account.name, "deleted", "%", "' or 1=1", "\0", "0" * 32):
        assert await found(words) == [], words
    log = [line.act for line in await audit_log(None, 100, desk=office.desk)]
    assert log[0].act == "find"
    assert "ana" not in repr([(line.subject, line.details) for line in log])


async def test_p82_the_audit_log_cannot_be_changed(office: Office) -> None:
    ana = await office.sign_in("ana@example.com")
    await suspend(act(office, "suspend"), ana.account.account_id, desk=office.desk)
    for change in ("delete from auth.audit", "update auth.audit set operator = 'nobody'", "truncate auth.audit"):
        with pytest.raises(sa.exc.DBAPIError, match="never changed"):
            async with office.database.begin() as connection:
                await connection.execute(sa.text(change))


async def personal_account(office: Office) -> SignedIn:
    login, code = await office.ask_code("ana@example.com", "203.0.113.9")
    ana = await office.finish(login.login_id, code, "203.0.113.9", device="Ana's tablet")
    await claim_name(ana.account.account_id, "Ștefania", desk=office.desk)
    return ana


async def test_p45_the_export_has_all_that_is_held_and_is_json(office: Office) -> None:
    ana = await personal_account(office)
    await suspend(act(office, "suspend", ana.account.account_id.hex), ana.account.account_id, desk=office.desk)
    await reinstate(act(office, "reinstate", ana.account.account_id.hex), ana.account.account_id, desk=office.desk)
    await office.age(timedelta(minutes=2))
    login, code = await office.ask_code("ana@example.com")
    await office.finish(login.login_id, code, device="Ana's tablet")

    export = json.loads(json.dumps(await export_account(ana.account.account_id, desk=office.desk)))

    assert (export["email"], export["name"], export["guest"]) == ("ana@example.com", "Ștefania", False)
    assert [session["device"] for session in export["sessions"]] == ["Ana's tablet"]
    assert len(export["networks_signed_in_from"]) == 2
    assert [each["act"] for each in export["acts_of_operators"]] == ["suspend", "reinstate"]
    assert "dan" not in json.dumps(export)  # operators are not the account's to know
    with pytest.raises(AccountUnknown):
        await export_account(office.entropy.uuid7(), desk=office.desk)


async def test_p45_a_deleted_account_leaves_nothing_personal_behind(office: Office) -> None:
    ana = await personal_account(office)
    await office.age(timedelta(minutes=2))
    login, code = await office.ask_code("ana@example.com")
    await office.ask_code("other@example.com")
    await office.age(timedelta(minutes=2))
    # A letter that waits, too.
    office.mailbox.broken = True
    await office.ask("ana@example.com")
    await office.post.step()

    for _ in range(2):
        await delete_account(ana.account.account_id, None, desk=office.desk)

    left = "\n".join([await office.dump(table) for table in TABLES if table not in ("event", "outbox")])
    assert not [secret for secret in SECRETS if secret in left]
    assert await office.count("session") == await office.count("home_network") == 0
    (deleted,) = await office.events("account_deleted")
    assert deleted.account_deleted.account_id == ana.account.account_id.bytes
    assert len(await office.events("session_revoked")) == 1
    for use in (
        get_account(ana.account.account_id, desk=office.desk),
        export_account(ana.account.account_id, desk=office.desk),
        claim_name(ana.account.account_id, "Ana", desk=office.desk),
    ):
        with pytest.raises(AccountUnknown):
            await use
    with pytest.raises(CodeSpent):
        await office.finish(login.login_id, code)
    with pytest.raises(RefreshInvalid):
        await office.refresh(ana.tokens.refresh_token)


async def test_p45_a_later_sign_in_with_the_address_makes_a_new_account(office: Office) -> None:
    ana = await personal_account(office)
    await delete_account(ana.account.account_id, None, desk=office.desk)
    await office.age(timedelta(minutes=2))

    again = await office.sign_in("ana@example.com")

    assert again.created and again.account.account_id != ana.account.account_id
    assert not again.account.named


async def test_p45_deleting_asks_for_a_fresh_sign_in_of_ones_own(office: Office) -> None:
    ana, dan = await office.sign_in("ana@example.com"), await office.sign_in("dan@example.com")
    account_id = ana.account.account_id
    (mine,) = await list_sessions(account_id, desk=office.desk)
    (theirs,) = await list_sessions(dan.account.account_id, desk=office.desk)
    for session_id in (theirs.session_id, office.entropy.uuid7()):
        with pytest.raises(SignInNotFresh):
            await delete_account(account_id, session_id, desk=office.desk)
    await office.age(timedelta(minutes=10, seconds=1))
    await office.refresh(ana.tokens.refresh_token)  # renewing proves nothing anew
    with pytest.raises(SignInNotFresh) as refusal:
        await delete_account(account_id, mine.session_id, desk=office.desk)
    assert refusal.value.facts == {"minutes": 10}
    assert not await office.events("account_deleted")

    await office.sign_in("ana@example.com")
    fresh, _ = await list_sessions(account_id, desk=office.desk)
    await delete_account(account_id, fresh.session_id, desk=office.desk)
    await delete_account(account_id, fresh.session_id, desk=office.desk)  # the answer was lost
    assert len(await office.events("account_deleted")) == 1


async def test_p45_a_guest_of_any_age_deletes_itself(office: Office) -> None:
    guest = await office.guest()
    (session,) = await list_sessions(guest.account.account_id, desk=office.desk)
    await office.age(timedelta(days=2))

    await delete_account(guest.account.account_id, session.session_id, desk=office.desk)

    assert len(await office.events("account_deleted")) == 1
    with pytest.raises(AccountUnknown):
        await delete_account(office.entropy.uuid7(), None, desk=office.desk)


async def test_p45_deletion_races_sign_in_refresh_and_itself_without_a_deadlock(office: Office) -> None:
    for turn in range(8):
        await office.clear()
        ana = await office.sign_in("ana@example.com")
        await office.age(timedelta(days=1, minutes=2))
        login, code = await office.ask_code("ana@example.com")
        account_id = ana.account.account_id

        answers, reasons = await outcomes(
            [
                office.finish(login.login_id, code),
                delete_account(account_id, None, desk=office.desk),
                office.refresh(ana.tokens.refresh_token),
                delete_account(account_id, None, desk=office.desk),
            ]
        )

        assert set(reasons) <= {"CODE_SPENT", "REFRESH_INVALID"}, turn
        assert len(await office.events("account_deleted")) == 1
        alive = await office.count("account", "deleted_at is null")
        assert await office.count("session") == alive <= 1
        assert len(answers) + len(reasons) == 4


async def test_p45_deletions_that_race_a_code_asked_for_do_not_deadlock(office: Office) -> None:
    """Its letter comes after what a deletion forgets first, and before what it erases with the account."""
    for _ in range(12):
        await office.clear()
        ana = await office.sign_in("ana@example.com")
        await office.age(timedelta(minutes=2))

        deletions = [delete_account(ana.account.account_id, None, desk=office.desk) for _ in range(3)]
        _, reasons = await outcomes([deletions[0], office.ask("ana@example.com"), *deletions[1:]])

        assert reasons == []
        assert len(await office.events("account_deleted")) == 1
        assert await office.count("mail_queue") == await office.count("login") <= 1
