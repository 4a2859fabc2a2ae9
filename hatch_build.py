"""Makes at every install what is never committed: the contracts' side in build/gen/whist, and machine code.

Two kinds of modules are compiled where a C compiler is: the search kernels (Cython), and what runs at every move of a
live table (mypyc, ADR 18). Without one their sources run as they are, and one line says so.

    python hatch_build.py             # all of it
    python hatch_build.py changed     # what runs at every move, where a source has changed since it was compiled
"""

import contextlib
import hashlib
import shutil
import sys
from importlib import resources
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNELS = ("libs/search/playouts.py", "libs/search/rollouts.py", "libs/search/family/rollouts.py")
# None has a coroutine or a generator: an exception in a compiled one can crash the process (ADR 18).
EVERY_MOVE = (
    "libs/engine/cards.py",
    "libs/engine/romanian/bidding.py",
    "libs/engine/romanian/commands.py",
    "libs/engine/romanian/dealing.py",
    "libs/engine/romanian/deciding.py",
    "libs/engine/romanian/events.py",
    "libs/engine/romanian/evolving.py",
    "libs/engine/romanian/game.py",
    "libs/engine/romanian/journal.py",
    "libs/engine/romanian/play.py",
    "libs/engine/romanian/ranking.py",
    "libs/engine/romanian/scoring.py",
    "libs/engine/romanian/state.py",
    "libs/engine/romanian/views.py",
    "libs/engine/tricks/rules.py",
    "services/gateway/socket/bucket.py",
    "services/gateway/socket/framing.py",
    "services/gateway/socket/inbox.py",
    "services/gateway/socket/onlookers.py",
    "services/tables/actor/actor.py",
    "services/tables/actor/asked.py",
    "services/tables/actor/audience.py",
    "services/tables/actor/presence.py",
    "services/tables/actor/running_turn.py",
    "services/tables/actor/turn_clock.py",
    "services/tables/domain/table.py",
)
EXTENSIONS = (".so", ".pyd")
# Of mypyc's modules: one library has the code of all, so that they call each other without Python between.
GROUP = "whist_compiled"
# The build finds none of the packages that we use: what comes from them is of type Any to it, and what mypy would say
# of that is no error. `make lint` has all of them, and is strict.
TYPES = """
[mypy]
python_version = 3.11
mypy_path = build/gen
namespace_packages = True
explicit_package_bases = True
ignore_missing_imports = True
ignore_errors = True
"""


class ContractsBuildHook(BuildHookInterface[Any]):
    """Runs protoc (grpcio-tools) with mypy stubs over every file under protos/, then compiles."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        generate(Path(self.root))
        if self.target_name != "wheel":
            return
        built = compile_kernels(Path(self.root)) + compile_every_move(Path(self.root))
        if built:
            build_data["infer_tag"] = True
            build_data["pure_python"] = False
        if version == "standard":
            # A wheel carries what an editable install finds in the checkout; there a copy would only grow stale.
            paths = [path.relative_to(self.root) for path in built]
            build_data["force_include"] |= {
                "build/gen/whist": "whist",
                "config/platform.toml": "libs/house/platform.toml",
            } | {str(path): path.name for path in paths if path.parts[0] == "build"}
            build_data["artifacts"] += [str(path) for path in paths if path.parts[0] != "build"]


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


def compile_every_move(root: Path) -> list[Path]:
    """The extensions of `EVERY_MOVE`, each beside its source, and their library in build/gen; none without a compiler.

    A module of the sort that is older than its source is worse than none: whatever goes wrong, none is left.
    """
    (root / "build" / "compiled.sources").write_text(state_of_sources(root))
    kernels = {(root / name).with_suffix("") for name in KERNELS}
    for folder in ("libs", "services", "build/gen"):
        for stale in (root / folder).rglob("*"):
            # Also those of modules that were compiled by an earlier list: their library knows them no more.
            if stale.suffix in EXTENSIONS and stale.parent / stale.name.partition(".")[0] not in kernels:
                stale.unlink()
    try:
        return _mypyc(root)
    except (Exception, SystemExit) as error:  # mypyc exits where types do not fit
        sys.stderr.write(f"live tables run interpreted, slower by a quarter: {error}\n")
        return []


def _mypyc(root: Path) -> list[Path]:
    from mypyc.build import mypycify  # noqa: PLC0415 - a build requirement
    from setuptools import Distribution  # noqa: PLC0415 - a build requirement
    from setuptools.command.build_ext import build_ext  # noqa: PLC0415 - a build requirement

    out = root / "build" / "compiled"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    config = out / "mypy.ini"
    config.write_text(TYPES)
    with contextlib.chdir(root), contextlib.redirect_stdout(sys.stderr):
        extensions = mypycify(
            ["--config-file", str(config), *EVERY_MOVE], group_name=GROUP, target_dir=str(out), debug_level="0"
        )
        command = build_ext(Distribution({"name": GROUP, "ext_modules": extensions, "packages": [], "py_modules": []}))
        command.build_lib, command.build_temp = str(out), str(out)
        command.ensure_finalized()
        command.run()
    placed = []
    for name in (extension.name for extension in extensions):
        built = Path(command.get_ext_fullpath(name))
        beside = root / "build" / "gen" if name == f"{GROUP}__mypyc" else root / Path(*name.split(".")[:-1])
        placed.append(beside / built.name)
        shutil.copy2(root / built, placed[-1])
    return placed


def state_of_sources(root: Path) -> str:
    """A digest of everything that `compile_every_move` reads of ours."""
    digest = hashlib.sha256()
    for name in (*EVERY_MOVE, "hatch_build.py"):
        digest.update((root / name).read_bytes())
    return digest.hexdigest()


def is_stale(root: Path) -> bool:
    """Whether a source has changed since compiling it was last tried."""
    tried = root / "build" / "compiled.sources"
    return not tried.exists() or tried.read_text() != state_of_sources(root)


def main() -> None:
    """See the module's docstring."""
    root = Path(__file__).parent
    if sys.argv[1:] == ["changed"]:
        if is_stale(root):
            sys.stderr.write("compiling what runs at every move, which takes a minute\n")
            compile_every_move(root)
        elif not any((root / "build" / "gen").glob(f"{GROUP}__mypyc.*")):
            sys.stderr.write("No C compiler: live tables run interpreted, slower by a quarter\n")
        return
    generate(root)
    compile_kernels(root)
    compile_every_move(root)


if __name__ == "__main__":
    main()
