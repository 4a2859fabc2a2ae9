"""What runs at every move is machine code wherever a compiler is, and of the source that stands beside it."""

import ast
import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hatch_build

ROOT = Path(hatch_build.__file__).parent
# Rules, a live table's turns, and what two gateways' sockets are told: enough that an interpreted house stands.
ALSO_INTERPRETED = (
    "tests/engine/test_romanian_rounds.py",
    "tests/engine/test_cards.py",
    "tests/services/tables/test_turns.py",
)
BUILT = ("*.so", "*.pyd", "__pycache__")


def extensions(root: Path) -> set[Path]:
    return {path.relative_to(root) for path in root.rglob("*") if path.suffix in hatch_build.EXTENSIONS}


def checkout(folder: Path) -> Path:
    """Sources and generated contracts, nothing compiled."""
    for name in ("libs", "services", "config", "tests", "bench", "build/gen/whist"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns(*BUILT, "node_modules"))
    for name in ("hatch_build.py", "pyproject.toml"):
        shutil.copy2(ROOT / name, folder / name)
    return folder


@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler")
@pytest.mark.parametrize("name", hatch_build.EVERY_MOVE)
def test_what_runs_at_every_move_is_compiled(name: str) -> None:
    module = importlib.import_module(name.removesuffix(".py").replace("/", "."))
    assert str(module.__file__).endswith(hatch_build.EXTENSIONS)


@pytest.mark.parametrize("name", hatch_build.EVERY_MOVE)
def test_no_compiled_module_has_a_coroutine_or_a_generator(name: str) -> None:
    """An exception in one that mypyc has made can crash the process (ADR 18)."""
    forbidden = (ast.AsyncFunctionDef, ast.Await, ast.Yield, ast.YieldFrom)
    found = [node for node in ast.walk(ast.parse((ROOT / name).read_text())) if isinstance(node, forbidden)]
    assert not found


def test_a_change_of_a_source_is_seen(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    assert hatch_build.is_stale(root), "never compiled"
    (root / "build/compiled.sources").write_text(hatch_build.state_of_sources(root))
    assert not hatch_build.is_stale(root)
    with (root / hatch_build.EVERY_MOVE[-1]).open("a") as source:
        source.write("\n")
    assert hatch_build.is_stale(root)


def test_a_missing_compiler_leaves_nothing_old_behind_and_the_house_stands_interpreted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    root = checkout(tmp_path)
    for stale in ("libs/engine/gone.so", "services/tables/actor/actor.so", "build/gen/whist_compiled__mypyc.so"):
        (root / stale).write_bytes(b"of an older source")
    monkeypatch.setenv("CC", "/nonexistent/cc")
    assert hatch_build.compile_every_move(root) == []
    assert "run interpreted" in capfd.readouterr().err
    assert not extensions(root / "libs") | extensions(root / "services") | extensions(root / "build" / "gen")
    assert not hatch_build.is_stale(root), "tried once, not at every start"
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *ALSO_INTERPRETED],
        cwd=root,
        env={**os.environ, "PYTHONPATH": f"{root}:{root / 'build/gen'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-2000:]
