"""P82: `whist admin`, against a gateway's real operators' listener with the services played."""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from typer.testing import CliRunner

from libs.client.cli.app import app
from services.gateway.admin.operators import Role
from services.wallet.wiring import MIGRATIONS
from tests.conftest import MakeDatabase
from tests.services.gateway.operators_world import NOBODY
from tests.services.gateway.test_admin import ACCOUNT, TABLE, TOKENS, acts_of, operators_file
from tests.services.gateway.world import Stage, staged
from whist.types.v1 import audit_pb2
from whist.wallet.v1 import wallet_pb2

WHY = ("--reason", "asked by mail")
DASHED = f"{ACCOUNT[:8]}-{ACCOUNT[8:12]}-{ACCOUNT[12:16]}-{ACCOUNT[16:20]}-{ACCOUNT[20:]}"


@pytest.fixture(scope="module")
async def desk() -> AsyncIterator[Stage]:
    with tempfile.TemporaryDirectory(prefix="wg-") as folder:
        path = Path(folder)
        async with staged(
            path, admin_listen="127.0.0.1:0", operators_file=operators_file(path), rate_operators=""
        ) as stage:
            yield stage


async def admin(
    desk: Stage | None, *words: str, token: str = TOKENS[Role.ADMIN], process: bool = False
) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of one command: in a process of its own, or in a thread here."""
    url = f"http://127.0.0.1:{desk.gateway.admin_port}" if desk else "http://127.0.0.1:1"
    more = {"WHIST_ADMIN_URL": url, "WHIST_OPERATOR_TOKEN": token, "COLUMNS": "100"}
    if not process:
        result = await asyncio.to_thread(CliRunner().invoke, app, ["admin", *words], env=more)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result.exit_code, result.stdout, result.stderr
    started = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "libs.client.cli", "admin", *words, env={**os.environ, **more},
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await started.communicate()
    assert started.returncode is not None
    assert b"Traceback" not in err, err.decode()
    return started.returncode, out.decode(), err.decode()


async def test_p82_every_act_at_the_terminal_is_the_apis(desk: Stage) -> None:
    told = {
        ("accounts", "ana@example.org", *WHY): "Ana ✓  ana@example.org  2 signed in  suspended",
        ("suspend", DASHED, *WHY): f"{DASHED} is suspended.",
        ("reinstate", ACCOUNT, *WHY): "may sign in again",
        ("silence", ACCOUNT, "60", *WHY): "is silenced until 2026-11-30T13:00:00Z",
        ("grant", ACCOUNT, "--coins=-50", "--cup", "x2=3", *WHY): "950 coins, 0 bars, cups: none",
        ("wallet", ACCOUNT): "1000 coins, 0 bars, cups: 10 x1.5; held: 100 coins",
        ("tables", "--account", ACCOUNT, "--live"): "quick romanian  live  1 at it",
        ("void", TABLE, *WHY): "its game has ended",
        ("close", TABLE, *WHY): f"{TABLE} is closed.",
        ("reports", "--limit", "2"): "so rude",
        ("audit",): "admin-1  close " + TABLE,
        ("ledger-check",): "The ledger adds up.",
    }
    for words, line in told.items():
        code, out, err = await admin(desk, *words)
        assert (code, err) == (0, ""), words
        assert line in out, words
    asked = dict(acts_of(desk))
    assert {name for name, _ in acts_of(desk)} == {
        "find", "suspend", "reinstate", "silence", "correct", "void", "close",
    }  # fmt: skip
    assert (asked["correct"].assets.coins, asked["correct"].assets.cups_x2) == (-50, 3)
    assert asked["suspend"].account_id.hex() == ACCOUNT
    assert {request.act.reason for request in asked.values()} == {WHY[1]}


async def test_p82_for_programs_every_answer_is_json(desk: Stage) -> None:
    for words in (("tables",), ("reports",), ("audit",), ("wallet", ACCOUNT), ("accounts", "x", *WHY)):
        code, out, _ = await admin(desk, *words, "--json")
        assert code == 0 and all(json.loads(line) for line in out.splitlines()) and out, words
    code, out, _ = await admin(desk, "ledger-check", "--json")
    assert (code, json.loads(out)) == (0, {"ok": True, "differences": [], "unproved": []})


async def test_p82_an_act_repeated_by_its_key_is_done_once(desk: Stage) -> None:
    before, key = len(acts_of(desk)), str(uuid4())
    for _ in range(2):
        assert (await admin(desk, "suspend", ACCOUNT, *WHY, "--key", key))[0] == 0
    assert len(acts_of(desk)) == before + 1
    code, _, err = await admin(desk, "suspend", "ef" * 16, *WHY, "--key", key)
    assert code == 1 and "ACT_DIFFERS" in err and "take it away" in err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("suspend", ACCOUNT), 2, "--reason"),
        (("suspend", "ana", *WHY), 2, "is no id"),
        (("suspend", "\x1b[2J", *WHY), 2, "is no id"),
        (("suspend", NOBODY.hex(), *WHY), 1, "ACCOUNT_UNKNOWN"),
        (("silence", ACCOUNT, "-1", *WHY), 2, "-1"),
        (("grant", ACCOUNT, "--coins=-1001", *WHY), 1, "the purse does not hold as much"),
        (("grant", ACCOUNT, "--cup", "x9=1", *WHY), 2, "a kind of x1.5"),
        (("grant", ACCOUNT, "--cup", "x2=many", *WHY), 2, "and a number"),
        (("grant", ACCOUNT, "--coins", "9999999999999", *WHY), 1, "INVALID_REQUEST"),
        (("void", TABLE, "--reason", "x" * 501), 1, "INVALID_REQUEST"),
        (("tables", "--limit", "0"), 2, "--limit"),
    ],
    ids=str,
)
async def test_what_is_refused_is_said_in_one_line(desk: Stage, words: tuple[str, ...], code: int, told: str) -> None:
    before = len(acts_of(desk))
    found, out, err = await admin(desk, *words)
    assert (found, out) == (code, "") and told in err and "\x1b" not in err
    assert len(acts_of(desk)) == before


async def test_p82_a_token_that_is_missing_wrong_or_of_a_lesser_role_is_told_apart(desk: Stage, tmp_path: Path) -> None:
    code, _, err = await admin(desk, "tables", token="")
    assert code == 2 and "WHIST_OPERATOR_TOKEN" in err
    code, _, err = await admin(desk, "tables", token="guess")
    assert code == 1 and "NOT_AN_OPERATOR" in err and "--token-file" in err and "guess" not in err
    code, _, err = await admin(desk, "void", TABLE, *WHY, token=TOKENS[Role.SUPPORT])
    assert code == 1 and "your role may not do this" in err
    file = tmp_path / "token"
    file.write_text(TOKENS[Role.SUPPORT] + "\n")
    assert (await admin(desk, "tables", "--token-file", str(file), token="guess"))[0] == 0
    code, _, err = await admin(desk, "tables", "--token-file", str(tmp_path / "none"), token="")
    assert code == 2 and "No such file" in err


async def test_p82_an_answer_that_is_lost_tells_the_key_to_ask_again_with() -> None:
    code, _, err = await admin(None, "suspend", ACCOUNT, *WHY)
    assert code == 1 and "cannot reach" in err and "--key " in err
    code, _, err = await admin(None, "tables")
    assert code == 1 and "cannot reach" in err and "--key" not in err


async def test_what_others_have_written_moves_no_cursor(desk: Stage) -> None:
    act = audit_pb2.Act(request_id=uuid4().bytes, operator="ana", reason="\x1b[2Jgone\nx")
    world = desk.world
    world.auth.log("suspend", act, b"s" * 16, world.auth.lines[-1].at.ToDatetime() + timedelta(days=1))
    _, out, _ = await admin(desk, "audit", "--limit", "1")
    assert "\x1b" not in out and "gone" in out


async def test_p17_a_ledger_that_does_not_add_up_is_exit_code_1(desk: Stage) -> None:
    desk.world.purse.differences = [wallet_pb2.LedgerDifference(rule="E2", subject="a coin", expected="5", found="6")]
    code, out, _ = await admin(desk, "ledger-check", token=TOKENS[Role.TREASURER])
    assert (code, out) == (1, "E2 a coin: expected 5, found 6\n")
    desk.world.purse.differences = []
    desk.world.purse.unproved = [wallet_pb2.LedgerUnproved(rule="E7", count=3, why="older")]
    code, out, _ = await admin(desk, "ledger-check", token=TOKENS[Role.TREASURER])
    assert (code, out) == (0, "E7 says nothing of 3: older\nThe ledger adds up.\n")
    desk.world.purse.unproved = []


async def test_p17_any_database_is_proved_by_its_address(make_database: MakeDatabase) -> None:
    url = await make_database(MIGRATIONS)
    code, out, _ = await admin(None, "ledger-check", "--database-url", url, "--json", token="", process=True)
    assert (code, json.loads(out)) == (0, {"ok": True, "differences": [], "unproved": []})
    for wrong in ("postgresql+asyncpg://whist@127.0.0.1:1/whist", url.replace("?", "_none?"), "nonsense"):
        code, out, err = await admin(None, "ledger-check", "--database-url", wrong, token="", process=True)
        assert (code, out) == (2, "") and err.startswith("WHIST_DATABASE_URL: "), err
