"""Refresh tokens, sessions and their ends (reliability A4, B29)."""

from datetime import UTC, datetime, timedelta

import jwt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.chassis.clock import SystemClock
from libs.chassis.tokens import AccessTokens
from services.auth.domain.accounts import SignedIn
from services.auth.domain.errors import AccountUnknown, RefreshInvalid, RefreshReused
from services.auth.handlers.accounts import get_account
from tests.services.auth.builders import Office, is_suggested, outcomes, session_of


def claims_of(office: Office, answer: SignedIn) -> tuple[object, object, bool]:
    claims = AccessTokens().verify(answer.tokens.access_token, office.desk.signer.jwks(), SystemClock().now())
    return claims.account_id, claims.session_id, claims.guest


async def test_an_access_token_names_account_and_session_and_nothing_personal(office: Office) -> None:
    answer = await office.sign_in("ana@example.com")
    guest = await office.guest()

    account_id, session_id, is_guest = claims_of(office, answer)
    assert account_id == answer.account.account_id
    assert not is_guest
    assert claims_of(office, guest)[2] is True
    payload = jwt.decode(answer.tokens.access_token, options={"verify_signature": False})
    header = jwt.get_unverified_header(answer.tokens.access_token)
    assert set(payload) == {"iss", "aud", "sub", "sid", "jti", "guest", "iat", "nbf", "exp"}
    assert payload["sub"] == answer.account.account_id.hex
    assert payload["exp"] - payload["iat"] == 600
    assert payload["nbf"] == payload["iat"]
    assert (header["alg"], header["typ"]) == ("EdDSA", "at+jwt")
    assert answer.tokens.access_expires_at == datetime.fromtimestamp(payload["exp"], UTC)
    assert session_id is not None


async def test_refreshing_gives_a_new_token_of_the_same_session(office: Office) -> None:
    first = await office.sign_in("ana@example.com")
    second = await office.refresh(first.tokens.refresh_token)
    third = await office.refresh(second.tokens.refresh_token)

    assert len({answer.tokens.refresh_token for answer in (first, second, third)}) == 3
    assert len({answer.tokens.access_token for answer in (first, second, third)}) == 3
    assert claims_of(office, first) == claims_of(office, third)
    assert third.account.name == first.account.name


async def test_a4_a_lost_answer_is_given_again_while_its_token_is_unused(office: Office) -> None:
    first = await office.guest()

    answers, reasons = await outcomes([office.refresh(first.tokens.refresh_token) for _ in range(20)])
    await office.age(timedelta(seconds=9))
    later = await office.refresh(first.tokens.refresh_token)

    assert not reasons
    assert len({answer.tokens.refresh_token for answer in [*answers, later]}) == 1
    assert await office.count("spent_token") == 1
    await office.refresh(later.tokens.refresh_token)


async def test_b29_a_token_that_comes_back_after_its_successor_was_used_ends_the_family(office: Office) -> None:
    first = await office.sign_in("ana@example.com")
    second = await office.refresh(first.tokens.refresh_token)
    third = await office.refresh(second.tokens.refresh_token)
    office.mailbox.letters.clear()

    _, reasons = await outcomes([office.refresh(first.tokens.refresh_token) for _ in range(10)])

    assert reasons == ["REFRESH_REUSED"] * 10
    with pytest.raises(RefreshInvalid):
        await office.refresh(third.tokens.refresh_token)
    (revoked,) = await office.events("session_revoked")
    assert session_of(revoked) == claims_of(office, first)[1]
    assert revoked.session_revoked.account_id == first.account.account_id.bytes
    await office.post.step()
    ((letter, code),) = office.mailbox.letters
    assert (letter.kind, letter.address, code) == ("session_ended", "ana@example.com", "")


async def test_a4_a_token_that_comes_back_after_ten_seconds_ends_the_family(office: Office) -> None:
    first = await office.guest()
    second = await office.refresh(first.tokens.refresh_token)
    await office.age(timedelta(seconds=11))

    with pytest.raises(RefreshReused):
        await office.refresh(first.tokens.refresh_token)
    with pytest.raises(RefreshInvalid):
        await office.refresh(second.tokens.refresh_token)
    assert len(await office.events("session_revoked")) == 1
    assert await office.count("mail_queue") == 0


async def test_reuse_in_one_session_leaves_the_others(office: Office) -> None:
    phone = await office.sign_in("ana@example.com")
    await office.age(timedelta(minutes=2))
    laptop = await office.sign_in("ana@example.com")
    second = await office.refresh(phone.tokens.refresh_token)
    await office.refresh(second.tokens.refresh_token)

    with pytest.raises(RefreshReused):
        await office.refresh(phone.tokens.refresh_token)
    await office.refresh(laptop.tokens.refresh_token)


@pytest.mark.parametrize(("days", "works"), [(13.9, True), (14.1, False)])
async def test_a_session_ends_after_fourteen_idle_days(office: Office, days: float, works: bool) -> None:
    first = await office.guest()
    await office.age(timedelta(days=days))

    answers, reasons = await outcomes([office.refresh(first.tokens.refresh_token)])

    assert (len(answers), reasons) == ((1, []) if works else (0, ["REFRESH_INVALID"]))
    assert not await office.events("session_revoked")


async def test_a_session_ends_after_thirty_days_however_often_it_is_used(office: Office) -> None:
    answer = await office.guest()
    assert timedelta(days=13) < answer.tokens.refresh_expires_at - SystemClock().now() <= timedelta(days=14)
    for _ in range(3):
        await office.age(timedelta(days=9.5))
        answer = await office.refresh(answer.tokens.refresh_token)
    assert answer.tokens.refresh_expires_at - SystemClock().now() < timedelta(days=1.6)
    await office.age(timedelta(days=1.6))

    with pytest.raises(RefreshInvalid):
        await office.refresh(answer.tokens.refresh_token)


@pytest.mark.parametrize("token", ["", "x", "a" * 42, "a" * 44, "é" * 43, "A" * 42 + "B", "A" * 10_000, "=" * 43])
async def test_what_is_no_token_is_refused(office: Office, token: str) -> None:
    with pytest.raises(RefreshInvalid):
        await office.refresh(token)


async def test_a_token_never_given_is_refused_and_ends_nothing(office: Office) -> None:
    answer = await office.guest()

    with pytest.raises(RefreshInvalid):
        await office.refresh("A" * 43)
    await office.logout("A" * 43)
    await office.refresh(answer.tokens.refresh_token)


@pytest.mark.parametrize("rotations", [0, 1, 2])
async def test_logging_out_ends_the_session_once_with_any_of_its_tokens(office: Office, rotations: int) -> None:
    first = latest = await office.sign_in("ana@example.com")
    for _ in range(rotations):
        latest = await office.refresh(latest.tokens.refresh_token)

    await outcomes([office.logout(first.tokens.refresh_token) for _ in range(10)])
    await office.logout(latest.tokens.refresh_token)

    with pytest.raises(RefreshInvalid):
        await office.refresh(latest.tokens.refresh_token)
    (revoked,) = await office.events("session_revoked")
    assert session_of(revoked) == claims_of(office, first)[1]


async def test_an_account_has_at_most_ten_sessions_and_the_longest_unused_ends(office: Office) -> None:
    request_id = office.entropy.bytes(16)
    sessions = [await office.guest(request_id)]
    for _ in range(9):
        sessions[-1] = await office.refresh(sessions[-1].tokens.refresh_token)
        sessions.append(await office.guest(request_id))
    assert await office.count("session", "ended_at is null") == 10
    # The first is now the latest used, so that the second has to make room.
    sessions[0] = await office.refresh(sessions[0].tokens.refresh_token)
    await office.refresh(sessions[-1].tokens.refresh_token)

    await office.guest(request_id)

    assert await office.count("session", "ended_at is null") == 10
    await office.refresh(sessions[0].tokens.refresh_token)
    with pytest.raises(RefreshInvalid):
        await office.refresh(sessions[1].tokens.refresh_token)
    (revoked,) = await office.events("session_revoked")
    assert session_of(revoked) == claims_of(office, sessions[1])[1]


async def test_parallel_sign_ins_never_leave_more_than_ten_sessions(office: Office) -> None:
    request_id = office.entropy.bytes(16)
    first = await office.guest(request_id)
    await office.refresh(first.tokens.refresh_token)

    answers, reasons = await outcomes([office.guest(request_id) for _ in range(25)])

    assert not reasons
    assert len({answer.account.account_id for answer in answers}) == 1
    assert len({answer.tokens.refresh_token for answer in answers}) == 25
    assert await office.count("session", "ended_at is null") == 10
    assert len(await office.events("session_revoked")) == 16
    ended = {session_of(event) for event in await office.events("session_revoked")}
    assert claims_of(office, first)[1] in ended


async def test_p42_a_guest_plays_at_once_under_a_suggested_name(office: Office) -> None:
    answer = await office.guest(device="Firefox on Linux")

    assert answer.account.guest
    assert is_suggested(answer.account.name)
    (created,) = await office.events("account_created")
    assert created.account_created.guest
    assert created.account_created.account_id == answer.account.account_id.bytes
    assert await get_account(answer.account.account_id, desk=office.desk) == answer.account


async def test_p42_a_retried_request_is_answered_with_the_same_guest_and_session(office: Office) -> None:
    request_id = office.entropy.bytes(16)

    answers, reasons = await outcomes([office.guest(request_id) for _ in range(20)])

    assert not reasons
    assert len({answer.account.account_id for answer in answers}) == 1
    assert len({answer.tokens.refresh_token for answer in answers}) == 1
    assert await office.count("account") == 1
    assert await office.count("session") == 1
    assert len(await office.events("account_created")) == 1


async def test_p42_retries_are_not_counted_against_the_network(office: Office) -> None:
    request_id = office.entropy.bytes(16)
    await outcomes([office.guest(request_id, "198.51.100.1") for _ in range(70)])

    answers, _ = await outcomes([office.guest(network="198.51.100.1") for _ in range(70)])
    assert len(answers) == 59


async def test_p42_a_guests_request_opens_nothing_after_a_day(office: Office) -> None:
    request_id = office.entropy.bytes(16)
    first = await office.guest(request_id)
    await office.age(timedelta(hours=25))
    async with office.store.transaction() as tx:
        await tx.sweep(office.desk.sign_in.home_kept)

    assert (await office.guest(request_id)).account.account_id != first.account.account_id


async def test_sweeping_keeps_what_is_alive_and_deletes_what_is_over(office: Office) -> None:
    answer = await office.sign_in("ana@example.com")
    await office.refresh(answer.tokens.refresh_token)
    async with office.store.transaction() as tx:
        await tx.sweep(office.desk.sign_in.home_kept)
    assert await office.count("session") == 1
    assert await office.count("attempt_window") > 0

    await office.age(timedelta(days=31))
    async with office.store.transaction() as tx:
        await tx.sweep(office.desk.sign_in.home_kept)
    assert await office.count("session") == 0
    assert await office.count("spent_token") == 0
    assert await office.count("attempt_window") == 0
    assert await office.count("account") == 1
    with pytest.raises(RefreshInvalid):
        await office.refresh(answer.tokens.refresh_token)


async def test_an_account_that_nobody_made_is_unknown(office: Office) -> None:
    with pytest.raises(AccountUnknown):
        await get_account(office.entropy.uuid7(), desk=office.desk)


# Steps whose sums never meet the bounds of 10 s, 14 d and 30 d.
SHORT, LONG, DAYS = 4.0, 12.0, 6.5 * 86_400
GRACE, IDLE, LIFE = 10.0, 14 * 86_400.0, 30 * 86_400.0
steps = st.one_of(
    st.tuples(st.just("refresh"), st.integers(0, 6)),
    st.tuples(st.just("refresh"), st.integers(0, 1)),
    st.tuples(st.just("wait"), st.sampled_from([SHORT, LONG, DAYS])),
    st.tuples(st.just("logout"), st.integers(0, 3)),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(plan=st.lists(steps, min_size=4, max_size=20))
async def test_a4_a_family_follows_its_model_in_every_order(
    shared_office: Office, plan: list[tuple[str, float]]
) -> None:
    """Numbers of steps count tokens back from the newest, so that retries, twins and thieves all occur."""
    await shared_office.clear()
    tokens = [(await shared_office.guest()).tokens.refresh_token]
    age = since_use = 0.0
    ended = False
    for step, value in plan:
        if step == "wait":
            await shared_office.age(timedelta(seconds=value))
            age, since_use = age + value, since_use + value
            continue
        back = min(int(value), len(tokens) - 1)
        token = tokens[-1 - back]
        if step == "logout":
            await shared_office.logout(token)
            ended = True
            continue
        over = ended or age > LIFE or since_use > IDLE
        answers, reasons = await outcomes([shared_office.refresh(token)])
        if back == 0 and not over:
            tokens.append(answers[0].tokens.refresh_token)
            since_use = 0.0
        elif back == 1 and not over and since_use < GRACE:
            assert answers[0].tokens.refresh_token == tokens[-1]
        elif back == 0:
            assert reasons == ["REFRESH_INVALID"]
        else:
            assert reasons == ["REFRESH_REUSED"]
            ended = True
    assert len(set(tokens)) == len(tokens)
    assert len(await shared_office.events("session_revoked")) == int(ended)
