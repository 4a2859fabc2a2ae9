"""A machine without a compiler still plays, says so once, and plays the same."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hatch_build
from libs.search import choose, compiled
from tests.engine.builders import GAME, bid, dealt

ROOT = Path(hatch_build.__file__).parent
PLAY = """
import json, sys
from libs.search import choose, compiled
views = json.load(sys.stdin)
moves = [choose("romanian", view, strength, 5) for view in views for strength in ("keen", "sharp")]
print(json.dumps([compiled(), *moves]))
"""


def checkout(folder: Path) -> Path:
    """The engine and search as sources, nothing built."""
    for name in ("libs/__init__.py", "libs/engine", "libs/search"):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
        else:
            shutil.copy2(ROOT / name, target)
    return folder


def test_where_a_compiler_is_the_kernels_are_machine_code() -> None:
    assert compiled() or shutil.which("cc") is None


def test_without_the_extension_the_same_moves_come_out_and_one_line_says_why_it_is_slow(tmp_path: Path) -> None:
    state = dealt(["AC KD 7S", "7D 8D 9D", "7H 8S 9S", "JC QC 8C"], dealer=3, turn_up="9H")
    views = [GAME.view(state, 0), GAME.view(bid(state, 1, 0, 1, 0), 0)]
    ran = subprocess.run(
        [sys.executable, "-c", PLAY],
        cwd=checkout(tmp_path),
        input=json.dumps(views),
        capture_output=True,
        text=True,
        check=True,
    )
    moves = [choose("romanian", view, strength, 5) for view in views for strength in ("keen", "sharp")]
    assert json.loads(ran.stdout) == [False, *moves]
    assert ran.stderr.splitlines() == ["search_kernel_interpreted"]


def test_a_missing_compiler_is_said_and_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    root = checkout(tmp_path)
    stale = root / "libs/search/rollouts.cpython-311-x86_64-linux-gnu.so"
    stale.write_bytes(b"of an older source")
    monkeypatch.setenv("CC", "/nonexistent/cc")
    assert hatch_build.compile_kernels(root) == []
    assert "run interpreted" in capfd.readouterr().err
    assert not stale.exists(), "an extension that no longer fits its source must not be imported"
