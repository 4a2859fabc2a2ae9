"""The engine could be published alone: standard library only, no clock, no randomness, no I/O."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import libs.engine

ROOT = Path(libs.engine.__file__).parent
FORBIDDEN = {"random", "secrets", "time", "datetime", "os", "io", "pathlib", "uuid", "asyncio"}


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, f"{path}: relative import"
            yield node.module


def test_the_engine_imports_the_standard_library_alone() -> None:
    files = list(ROOT.rglob("*.py"))
    assert len(files) > 20
    for path in files:
        for module in imported(path):
            top = module.split(".")[0]
            own = module.startswith("libs.engine")
            assert own or (top in sys.stdlib_module_names and top not in FORBIDDEN), (path, module)
