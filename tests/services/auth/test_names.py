"""Names that an account holds for itself alone: what may be one, what looks alike, who gets it (P41, A8)."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.house.names import ERASED_NAME, is_own
from libs.house.platform import load
from services.auth.domain.accounts import Account, SignedIn
from services.auth.domain.errors import (
    AccountUnknown,
    GuestsClaimNoName,
    NameInvalid,
    NameTaken,
    NameTooSoon,
)
from services.auth.domain.names import ACCOUNT_NUMBERS, ANIMALS, GUEST_NUMBERS, name_of, suggested_name
from services.auth.domain.skeletons import skeletons
from services.auth.handlers.accounts import ACCOUNTS_MAX, claim_name, get_account, get_accounts
from services.auth.handlers.deletion import delete_account
from tests.services.auth.builders import Office, outcomes

NAMES = load().names
DIFFERENT = (
    "Nina Vina", "Nino Vino", "Dana Dona", "Ana Oana", "Ion Iona", "Radu Raluca", "Bogdan Bogdana", "Mara Maria",
    "Corn Cora", "Horia Florin", "Paul Raul", "Bob Bub", "Sandu Sanda", "Vlad Vlada", "Zoe Zoa", "Tudor Teodor",
    "Mihai Mihail", "Emil Emilia", "Anna Hanna", "Gelu Nelu", "Filip Felix", "Dan7 Dan8", "Rex2 Rex3", "Анна Яна",
    "Ольга Олег", "Σοφια Ζωη", "王小明 王小红", "Costin Codrin", "Miron Mirona", "Pavel Pablo", "Sergiu Sergio",
)  # fmt: skip


def pairs() -> list[tuple[str, str, str]]:
    """The list of look-alikes, with its escapes undone."""
    lines = (Path(__file__).parent / "lookalikes.txt").read_text(encoding="utf-8").splitlines()
    cut = [line.split("\t") for line in lines if not line.startswith("#")]
    return [(_plain(one), _plain(other), why) for one, other, why in cut]


def _plain(text: str) -> str:
    first, *rest = text.split("\\u")
    return first + "".join(chr(int(part[:4], 16)) + part[4:] for part in rest)


def rule_of(text: str) -> str:
    """The rule that a name breaks; empty when it may be claimed."""
    try:
        name_of(text, NAMES)
    except NameInvalid as refusal:
        return str(refusal.facts["rule"])
    return ""


def test_a8_the_list_of_look_alikes_has_two_hundred_pairs() -> None:
    found = pairs()
    assert len(found) >= 200
    assert len({pair[:2] for pair in found}) == len(found)
    assert all(one != other for one, other, _ in found)


@pytest.mark.parametrize(("held", "wanted", "why"), pairs())
def test_a8_a_look_alike_is_invalid_or_has_the_skeleton_of_the_name_it_looks_like(
    held: str, wanted: str, why: str
) -> None:
    assert rule_of(held) == "", held
    if not rule_of(wanted):
        assert skeletons(name_of(held, NAMES)) & skeletons(name_of(wanted, NAMES)), (held, wanted, why)


@pytest.mark.parametrize("two", DIFFERENT)
def test_names_that_differ_are_both_to_be_had(two: str) -> None:
    one, other = two.split()
    assert rule_of(one) == rule_of(other) == ""
    assert not skeletons(one) & skeletons(other)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "length"),
        ("an", "length"),
        ("a" * 17, "length"),
        ("a" * 100_000, "length"),
        ("123", "characters"),
        ("4_2", "characters"),
        ("Ana Maria", "characters"),
        ("_Ana", "characters"),
        ("Ana.", "characters"),
        ("A..na", "characters"),
        ("Ana✓", "characters"),
        ("Ana✔", "characters"),
        ("Ana★", "characters"),
        ("Ana😀", "characters"),
        ("<b>Ana", "characters"),
        ("Ana\0", "characters"),
        ("Ana\n", "characters"),
        ("Ana\u0301\u0301\u0301", "characters"),
        ("\u202eanA", "characters"),
        ("An\u200ba", "characters"),
        ("Aná٣", "characters"),
        ("ᴀᴅᴍɪɴ", "characters"),
        ("ʙᴏᴛ", "characters"),
        ("Rɑdu", "characters"),
        ("Anǃa", "characters"),
        ("Lǀdia", "characters"),
        ("Ӏвaн", "characters"),
        ("Пꙮдкаст", "characters"),
        ("Ϝανη", "characters"),
        ("Αна", "scripts"),
        ("Anaб", "scripts"),
        ("Ana王", "scripts"),
        ("שלום", "scripts"),
        ("سلام", "scripts"),
        ("アナア", "scripts"),
        ("Admin", "reserved"),
        ("ADMlN", "reserved"),
        ("Adm1n", "reserved"),
        ("adrnin", "reserved"),
        ("xAdminx", "reserved"),
        ("AdminȘef", "reserved"),
        ("Whist", "reserved"),
        ("VVhist_Club", "reserved"),
        ("W.h.i.s.t", "reserved"),
        ("Bot", "reserved"),
        ("B0T", "reserved"),
        ("bot_7", "reserved"),
        ("Bot12", "reserved"),
        ("ВОТ", "reserved"),
        ("Guest", "reserved"),
        ("Deleted", "reserved"),
        ("Mod-Radu", "reserved"),
        ("管理员", "reserved"),
        ("管理員", "reserved"),
        ("官方客服", "reserved"),
        ("机器人王", "reserved"),
        ("機器人7", "reserved"),
        ("遊客7", "reserved"),
        ("Админ", "reserved"),
        ("Модератор_1", "reserved"),
        ("Робот", "reserved"),
        ("бот-9", "reserved"),
        ("Διαχειριστής", "reserved"),
        ("Ρομπότ", "reserved"),
    ],
)
def test_a8_what_is_no_name_is_refused_by_its_rule(text: str, rule: str) -> None:
    assert rule_of(text) == rule


@pytest.mark.parametrize(
    "text",
    [
        "Robotel", "Botond", "Modest", "Hostel", "Vulpița", "Lupu", "Ursache", "Corbea7", "Ботан", "快乐玩家",
        "Łukasz", "Đorđe", "Nguyễn", "Wáng-lǐ", "Ğüneş", "Þór", "Ђорђе", "Ґанна", "Їжак", "Γιώργος", "Straße",
    ],
)  # fmt: skip
def test_words_that_only_begin_like_reserved_ones_are_names(text: str) -> None:
    assert rule_of(text) == ""


def test_a8_no_name_that_is_suggested_to_guests_or_accounts_can_be_claimed_nor_one_like_it() -> None:
    for animal in range(len(ANIMALS)):
        for number in (0, 1, 9, GUEST_NUMBERS - 1, 99, 1009, ACCOUNT_NUMBERS - 1):
            suggested = suggested_name(animal, number)
            for like in (suggested, *(suggested.replace(" ", between) for between in ("", "_", "-", "."))):
                assert rule_of(like) in ("reserved", "characters"), like
    assert rule_of("VuIpe42") == rule_of("vulpel") == rule_of("Soim_O7") == "reserved"


def test_p41_a_name_says_by_itself_whether_it_is_somebodys_own() -> None:
    """What the ✓ at a table rests on."""
    suggested = [suggested_name(animal, number) for animal in range(len(ANIMALS)) for number in (0, 98, 9998)]
    assert not any(map(is_own, (*suggested, ERASED_NAME, "")))
    assert all(is_own(name_of(held, NAMES)) for held, _, _ in pairs())


def test_compatibility_forms_are_shown_as_plain_letters() -> None:
    assert name_of("Ｒａｄｕ", NAMES) == "Radu"
    assert name_of("Ra\u0302s", NAMES) == "Râs"


@given(st.text(max_size=20))
def test_a8_whatever_is_claimed_is_visible_short_and_of_one_line(text: str) -> None:
    if rule_of(text):
        return
    name = name_of(text, NAMES)
    assert NAMES.length_min <= len(name) <= NAMES.length_max
    assert name.isprintable() and not any(char.isspace() for char in name)
    assert is_own(name)
    assert name_of(name, NAMES) == name
    assert skeletons(name) == skeletons(name.swapcase()) or name.swapcase().swapcase() != name


async def claim(office: Office, who: SignedIn | Account, name: str) -> Account:
    account = who.account if isinstance(who, SignedIn) else who
    claimed, _ = await claim_name(account.account_id, name, desk=office.desk)
    return claimed


async def people(office: Office, count: int) -> Sequence[SignedIn]:
    return [await office.sign_in(f"person{number}@example.com") for number in range(count)]


async def test_p41_a_name_is_claimed_at_once_shown_and_told(office: Office) -> None:
    (ana,) = await people(office, 1)
    assert not ana.account.named

    claimed, next_change_at = await claim_name(ana.account.account_id, "Ștefania", desk=office.desk)

    assert (claimed.name, claimed.named) == ("Ștefania", True)
    assert await get_account(ana.account.account_id, desk=office.desk) == claimed
    async with office.store.transaction() as tx:
        left = next_change_at - await tx.now()
    assert timedelta(days=29.9) < left <= timedelta(days=30)
    (changed,) = await office.events("name_changed")
    assert (changed.name_changed.account_id, changed.name_changed.name) == (
        ana.account.account_id.bytes,
        "Ștefania",
    )
    assert (await office.refresh(ana.tokens.refresh_token)).account == claimed


async def test_p41_a_repeated_claim_is_answered_alike_and_told_once(office: Office) -> None:
    (ana,) = await people(office, 1)

    answers, reasons = await outcomes([claim_name(ana.account.account_id, "Ana", desk=office.desk) for _ in range(20)])

    assert not reasons
    assert len(set(answers)) == 1
    assert len(await office.events("name_changed")) == 1


async def test_p41_one_of_many_claimants_gets_the_name_whichever_way_it_is_written(office: Office) -> None:
    crowd = await people(office, 8)
    wanted = ["Ștefan", "Stefan", "ştefan", "STEFAN", "Ste-fan", "Șt.efan", "stefan", "Ștefân"]
    for turn in range(5):
        async with office.database.begin() as connection:
            await connection.exec_driver_sql("truncate auth.claimed_name")
            await connection.exec_driver_sql("update auth.account set named_at = null")

        answers, reasons = await outcomes([claim(office, who, name) for who, name in zip(crowd, wanted, strict=True)])

        assert len(answers) == 1, turn
        assert reasons == ["NAME_TAKEN"] * 7
        assert await office.count("account", "named_at is not null") == 1


async def test_p41_crossed_claims_wait_for_each_other_in_one_order(office: Office) -> None:
    """Names whose two skeletons lie crosswise: nobody is refused by a deadlock."""
    crowd = await people(office, 6)
    for turn in range(10):
        async with office.database.begin() as connection:
            await connection.exec_driver_sql("truncate auth.claimed_name")
            await connection.exec_driver_sql("update auth.account set named_at = null")
        wanted = [f"{first}{turn}" for first in ("Ioli", "loIi", "Iola", "lola", "Corn", "Com")]

        answers, reasons = await outcomes([claim(office, who, name) for who, name in zip(crowd, wanted, strict=True)])

        assert len(answers) == 3
        assert set(reasons) == {"NAME_TAKEN"}


async def test_p41_the_next_change_is_free_after_thirty_days(office: Office) -> None:
    (ana,) = await people(office, 1)
    await claim(office, ana, "Ana")
    await office.age(timedelta(days=29.9))
    with pytest.raises(NameTooSoon) as refusal:
        await claim(office, ana, "Anuța")
    assert "next_change_at" in refusal.value.facts
    assert (await claim(office, ana, "Ana")).name == "Ana"
    await office.age(timedelta(days=0.2))

    assert (await claim(office, ana, "Anuța")).name == "Anuța"
    with pytest.raises(NameTooSoon):
        await claim(office, ana, "Ana")


async def test_a8_a_name_given_up_is_nobody_elses_for_half_a_year_but_its_former_holders(office: Office) -> None:
    ana, dan = await people(office, 2)
    await claim(office, ana, "Ana")
    await office.age(timedelta(days=31))
    await claim(office, ana, "Anuța")
    await office.age(timedelta(days=31))
    with pytest.raises(NameTaken):
        await claim(office, dan, "Ana")
    assert (await claim(office, ana, "Ana")).name == "Ana"
    with pytest.raises(NameTaken):
        await claim(office, dan, "Anuta")
    await office.age(timedelta(days=181))

    assert (await claim(office, dan, "Anuța")).name == "Anuța"
    with pytest.raises(NameTaken):
        await claim(office, ana, "Anuța")


@pytest.mark.parametrize("swept", [False, True])
async def test_a8_a_deleted_accounts_name_is_free_after_180_days(office: Office, swept: bool) -> None:
    ana, dan = await people(office, 2)
    await claim(office, ana, "Ana")
    await delete_account(ana.account.account_id, None, desk=office.desk)
    await office.age(timedelta(days=179.9))
    with pytest.raises(NameTaken):
        await claim(office, dan, "Ana")
    await office.age(timedelta(days=0.2))
    if swept:
        async with office.store.transaction() as tx:
            await tx.sweep(office.desk.sign_in.home_kept)
        assert await office.count("claimed_name") == 0

    assert (await claim(office, dan, "Ana")).name == "Ana"


async def test_p42_guests_claim_no_name_and_nobody_claims_one_for_nobody(office: Office) -> None:
    guest = await office.guest()
    with pytest.raises(GuestsClaimNoName):
        await claim(office, guest, "Ana")
    with pytest.raises(AccountUnknown):
        await claim_name(office.entropy.uuid7(), "Ana", desk=office.desk)
    assert await office.count("claimed_name") == 0


async def test_a_refused_claim_changes_nothing(office: Office) -> None:
    ana, dan = await people(office, 2)
    await claim(office, ana, "Iola")
    before = [await office.dump(table) for table in ("account", "claimed_name", "event")]

    # One of its two skeletons is free.
    with pytest.raises(NameTaken):
        await claim(office, dan, "lola")

    assert before == [await office.dump(table) for table in ("account", "claimed_name", "event")]


async def test_several_accounts_are_read_at_once_and_those_that_are_not_are_left_out(office: Office) -> None:
    ana, dan = await people(office, 2)
    guest = await office.guest()
    await delete_account(dan.account.account_id, None, desk=office.desk)
    ids = [who.account.account_id for who in (ana, dan, guest)]

    found = await get_accounts([*ids, office.entropy.uuid7()], desk=office.desk)

    assert {account.account_id for account in found} == {ana.account.account_id, guest.account.account_id}
    assert not await get_accounts([], desk=office.desk)
    _, reasons = await outcomes(
        [get_accounts([office.entropy.uuid7() for _ in range(ACCOUNTS_MAX + 1)], desk=office.desk)]
    )
    assert reasons == ["TOO_MANY_ACCOUNTS"]
