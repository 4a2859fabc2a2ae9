"""Generates the Python side of protos/ into build/gen/whist at every install, so that it is never committed."""

import shutil
import sys
from importlib import resources
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ContractsBuildHook(BuildHookInterface[Any]):
    """Runs protoc (grpcio-tools) with mypy stubs over every file under protos/."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        generate(Path(self.root))
        if version == "standard":
            # A wheel carries what an editable install finds in the checkout; there a copy would only grow stale.
            build_data["force_include"] |= {
                "build/gen/whist": "whist",
                "config/platform.toml": "libs/house/platform.toml",
            }


def generate(root: Path) -> None:
    """Rewrite build/gen/whist from protos/. Raises SystemExit when protoc refuses a file."""
    from grpc_tools import protoc  # noqa: PLC0415 - a build requirement, absent at run time

    protos = root / "protos"
    out = root / "build" / "gen"
    shutil.rmtree(out / "whist", ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    files = sorted(str(path.relative_to(protos)) for path in protos.rglob("*.proto"))
    bundled = resources.files("grpc_tools") / "_proto"
    scripts = Path(sys.executable).parent
    plugins = [
        f"--plugin={name}={found}"
        for name in ("protoc-gen-mypy", "protoc-gen-mypy_grpc")
        if (found := shutil.which(name) or shutil.which(name, path=str(scripts)))
    ]
    code = protoc.main(
        [
            "protoc",
            f"-I{protos}",
            f"-I{bundled}",
            *plugins,
            f"--python_out={out}",
            f"--grpc_python_out={out}",
            f"--mypy_out=quiet:{out}",
            f"--mypy_grpc_out=quiet:{out}",
            *files,
        ]
    )
    if code:
        raise SystemExit(f"protoc failed with exit status {code}")
    for folder in {path.parent for path in (out / "whist").rglob("*.py")}:
        for package in (folder, *folder.parents):
            if package == out:
                break
            (package / "__init__.py").touch()


if __name__ == "__main__":
    generate(Path(__file__).parent)
