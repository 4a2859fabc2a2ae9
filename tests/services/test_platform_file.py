"""P83: each service that reads the platform file reads the one it is told to, and a wrong one stops its start."""

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from libs.chassis.events.memory import MemoryBus
from libs.chassis.service import Spec

FILE = Path(__file__).parents[2] / "config" / "platform.toml"
READERS = ("auth", "tables", "wallet", "leagues", "matchmaking", "coach")


def needed(name: str, folder: Path) -> dict[str, Any]:
    """Settings without which a service cannot be wired at all."""
    known: dict[str, dict[str, Any]] = {
        "auth": {"mail_dir": folder, "signing_keys": folder, "pepper_file": folder / "pepper", "keys_create": True},
        "matchmaking": {"vip_key": "a-key-for-tests-only"},
        "wallet": {"vip_key": "a-key-for-tests-only"},
    }
    return known.get(name, {})


def spec_of(name: str) -> Spec[Any]:
    spec: Spec[Any] = importlib.import_module(f"services.{name}.wiring").SPEC
    return spec


def test_no_other_service_reads_it() -> None:
    services = Path(__file__).parents[2] / "services"
    readers = {
        path.relative_to(services).parts[0] for path in services.rglob("wiring.py") if "libs.house" in path.read_text()
    }
    assert readers == set(READERS)


@pytest.mark.parametrize("name", READERS)
def test_p83_a_wrong_file_stops_the_start_naming_the_field(name: str, tmp_path: Path) -> None:
    wrong = tmp_path / "platform.toml"
    wrong.write_text(FILE.read_text().replace("bid_ms = 12000", "bid_ms = 12"))
    settings = {f"WHIST_{key.upper()}": str(value) for key, value in needed(name, tmp_path).items()}
    started = subprocess.run(
        [sys.executable, "-m", f"services.{name}", "serve"],
        env={**os.environ, **settings, "WHIST_PLATFORM_CONFIG": str(wrong)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert started.returncode == 2
    assert started.stderr.strip().splitlines()[-1].startswith("platform.toml: turns.bid_ms: ")


@pytest.mark.parametrize("name", READERS)
async def test_p83_a_good_file_elsewhere_will_do(name: str, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(FILE.read_text().replace('zone = "Europe/Bucharest"', 'zone = "Pacific/Auckland"'))
    spec = spec_of(name)
    async with spec.open(spec.settings(platform_config=other, **needed(name, tmp_path)), bus=MemoryBus()) as (
        _,
        service,
    ):
        assert service.registrars
