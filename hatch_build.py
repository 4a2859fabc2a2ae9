"""Makes at every install what is never committed: the contracts' side in build/gen/whist, and the search kernels.

A kernel is compiled where a C compiler is; without one its source runs as it is, and one line says so.
"""

import contextlib
import shutil
import sys
from importlib import resources
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNELS = ("libs/search/playouts.py", "libs/search/rollouts.py", "libs/search/family/rollouts.py")
EXTENSIONS = (".so", ".pyd")


class ContractsBuildHook(BuildHookInterface[Any]):
    """Runs protoc (grpcio-tools) with mypy stubs over every file under protos/, then compiles the kernels."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        generate(Path(self.root))
        if self.target_name != "wheel":
            return
        built = compile_kernels(Path(self.root))
        if built:
            build_data["infer_tag"] = True
            build_data["pure_python"] = False
        if version == "standard":
            # A wheel carries what an editable install finds in the checkout; there a copy would only grow stale.
            build_data["force_include"] |= {
                "build/gen/whist": "whist",
                "config/platform.toml": "libs/house/platform.toml",
            }
            build_data["artifacts"] += [str(path.relative_to(self.root)) for path in built]


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


def compile_kernels(root: Path) -> list[Path]:
    """The extensions, each beside its source; none without Cython or a working C compiler, which is no error."""
    for stale in (path for name in KERNELS for path in (root / name).parent.glob(f"{Path(name).stem}.*")):
        if stale.suffix in EXTENSIONS:
            stale.unlink()
    try:
        return [compile_kernel(root, name) for name in KERNELS]
    except Exception as error:  # whatever a compiler says, the interpreted twin does
        sys.stderr.write(f"search kernels run interpreted, a hundred times slower: {error}\n")
        return []


def compile_kernel(root: Path, name: str) -> Path:
    """Cython to C to machine code. Raises ImportError or what setuptools raises."""
    from Cython.Build import cythonize  # noqa: PLC0415 - a build requirement
    from setuptools import Distribution, Extension  # noqa: PLC0415 - a build requirement
    from setuptools.command.build_ext import build_ext  # noqa: PLC0415 - a build requirement

    module = name.removesuffix(".py").replace("/", ".")
    # No contraction: a fused multiply-add would round otherwise than the twin does.
    flags = [] if sys.platform == "win32" else ["-O3", "-ffp-contract=off"]
    with contextlib.chdir(root), contextlib.redirect_stdout(sys.stderr):
        extensions = cythonize(
            [Extension(module, [name], extra_compile_args=flags)],
            build_dir="build/cython",
            language_level=3,
            quiet=True,
        )
        command = build_ext(Distribution({"name": "whist-kernels", "ext_modules": extensions}))
        command.build_lib, command.build_temp = "build/kernels", "build/cython"
        command.ensure_finalized()
        command.run()
        built = Path(command.get_ext_fullpath(module))
        placed = root / Path(name).parent / built.name
        shutil.copy2(built, placed)
    return placed


if __name__ == "__main__":
    generate(Path(__file__).parent)
    compile_kernels(Path(__file__).parent)
