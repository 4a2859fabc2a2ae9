"""`whist name`, `sessions` and `export`, and a guest that signs in (P41, P42, P45)."""

import json
from pathlib import Path

import pytest

from libs.client.sdk.errors import WhistError
from libs.client.sdk.session import MemoryStore
from libs.client.sdk.whist import Whist
from tests.client.server import Whistle
from tests.client.test_cli import whist

pytestmark = pytest.mark.timeout(60)

ANA = "ana@example.com"


async def code() -> str:
    return "12345678"


async def test_p41_a_name_is_claimed_at_the_terminal_and_a_refusal_says_why(server: Whistle, tmp_path: Path) -> None:
    status, _, err = await whist(server, tmp_path, "name", "Ștefania")
    assert (status, err.strip()) == (0, "You are Ștefania ✓; the next change is free on 2026-12-30.")
    status, _, err = await whist(server, tmp_path, "name", "Admin")
    assert (status, err.strip()) == (1, "whist: That name is the house's own. (NAME_INVALID)")


async def test_devices_are_shown_and_signed_out(server: Whistle, tmp_path: Path) -> None:
    status, out, _ = await whist(server, tmp_path, "sessions")
    assert status == 0
    first, second = out.splitlines()
    assert first.endswith("Phone (this one)") and second.endswith("unnamed")
    status, out, _ = await whist(server, tmp_path, "sessions", "--end", "2" * 32, "--json")
    assert status == 0 and [each["device"] for each in json.loads(out)] == ["Phone"]


async def test_p45_the_copy_is_json_on_standard_output(server: Whistle, tmp_path: Path) -> None:
    status, out, _ = await whist(server, tmp_path, "export")
    assert status == 0 and json.loads(out)["account"] == {"email": ANA}


async def test_p42_a_stored_guest_becomes_the_account_and_nobody_elses_token_goes_along(server: Whistle) -> None:
    store = MemoryStore()
    async with Whist.connect(server.url, store=store, email=ANA, ask_code=code):
        assert server.guest_tokens == [""]
    async with Whist.connect(server.url, store=store, email=ANA, ask_code=code):
        assert server.guest_tokens[1].startswith("Bearer access-")


@pytest.mark.parametrize("agreed", [True, False, None])
async def test_p42_the_guest_is_dropped_only_when_that_was_agreed_to(server: Whistle, agreed: bool | None) -> None:
    store = MemoryStore()
    async with Whist.connect(server.url, store=store):
        pass
    server.drops_guests = True

    async def ask_drop() -> bool:
        return bool(agreed)

    asked = None if agreed is None else ask_drop
    connecting = Whist.connect(server.url, store=store, email=ANA, ask_code=code, ask_drop=asked)
    if agreed:
        async with connecting:
            assert len(server.guest_tokens) == 2
        return
    with pytest.raises(WhistError) as refusal:
        async with connecting:
            pass
    assert refusal.value.code == "GUEST_WOULD_BE_DROPPED"


async def test_p42_the_terminal_asks_before_the_guest_is_lost(server: Whistle, tmp_path: Path) -> None:
    await whist(server, tmp_path, "sessions")
    server.drops_guests = True
    status, _, err = await whist(server, tmp_path, "name", "Ana", "--email", ANA, typed="12345678\nn\n")
    assert status == 1 and "would be lost" in err and "GUEST_WOULD_BE_DROPPED" in err
    status, _, err = await whist(server, tmp_path, "name", "Ana", "--email", ANA, typed="12345678\ny\n")
    assert status == 0 and "You are Ana" in err
