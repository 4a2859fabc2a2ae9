"""What a person is told when a run cannot start, and where its page is."""

import asyncio
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from libs.chassis.entropy import SystemEntropy
from services.allinone.addresses import AddressTaken, require_free
from services.allinone.home import Home
from services.allinone.terminal import greet, page_url

PLATFORM = Path(__file__).parents[3] / "config" / "platform.toml"
LISTENS = ("WHIST_HTTP_LISTEN", "WHIST_SOCKET_LISTEN", "WHIST_ADMIN_LISTEN")


@pytest.fixture
def taken() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield f"127.0.0.1:{other.getsockname()[1]}"


async def refused(program: str, environment: dict[str, str]) -> str:
    """What a start says that ends with status 2."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", program,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env=os.environ | dict.fromkeys((*LISTENS[2:], "WHIST_METRICS_LISTEN"), "") | environment,
    )  # fmt: skip
    out, err = await process.communicate()
    assert (process.returncode, out) == (2, b""), err
    return err.decode()


@pytest.mark.parametrize("program", ["services.allinone", "services.allinone.cluster"])
@pytest.mark.parametrize("setting", LISTENS)
async def test_a_taken_port_is_one_line_and_nothing_is_started(
    program: str, setting: str, taken: str, tmp_path: Path
) -> None:
    free = {"WHIST_HTTP_LISTEN": "127.0.0.1:0", "WHIST_SOCKET_LISTEN": "127.0.0.1:0"}
    said = await refused(program, free | {setting: taken, "WHIST_DATA_DIR": str(tmp_path)})
    assert said == f"cannot listen on {taken}: Address already in use; choose another with {setting}\n"
    assert not (tmp_path / "postgres").exists()


@pytest.mark.parametrize("program", ["services.allinone", "services.allinone.cluster"])
async def test_a_second_start_on_the_same_folder_is_one_line(program: str, tmp_path: Path) -> None:
    with Home(tmp_path, SystemEntropy()).held():
        said = await refused(program, {"WHIST_DATA_DIR": str(tmp_path)})
    assert said == f"another Whist runs on {tmp_path}; stop it, or set WHIST_DATA_DIR\n"


@pytest.mark.parametrize("program", ["services.allinone", "services.allinone.cluster"])
async def test_p83_a_wrong_platform_file_is_one_line_and_nothing_is_started(program: str, tmp_path: Path) -> None:
    wrong = tmp_path / "platform.toml"
    wrong.write_text(PLATFORM.read_text().replace('strength = "keen"', 'strength = "brilliant"'))
    free = {"WHIST_HTTP_LISTEN": "127.0.0.1:0", "WHIST_SOCKET_LISTEN": "127.0.0.1:0"}
    said = await refused(
        program, free | {"WHIST_DATA_DIR": str(tmp_path / "data"), "WHIST_PLATFORM_CONFIG": str(wrong)}
    )
    assert said == "platform.toml: bots.strength: must be calm, keen, sharp, not 'brilliant'\n"
    assert not (tmp_path / "data" / "postgres").exists()


@pytest.mark.parametrize("wrong", ["nonsense", "127.0.0.1:99999", "127.0.0.1:", ":8080"])
async def test_p83_what_is_no_address_is_one_line_that_names_the_variable(wrong: str, tmp_path: Path) -> None:
    said = await refused("services.allinone", {"WHIST_HTTP_LISTEN": wrong, "WHIST_DATA_DIR": str(tmp_path)})
    assert said.startswith("WHIST_HTTP_LISTEN: ") and said.count("\n") == 1
    assert "match" not in said and "error" not in said


def test_the_place_of_sockets_goes_when_the_folder_is_let_go(tmp_path: Path) -> None:
    home = Home(tmp_path, SystemEntropy())
    with home.held():
        place = home.sockets
        assert place.is_dir()
    assert not place.exists()


def test_an_address_of_another_machine_is_refused_by_its_name() -> None:
    with pytest.raises(AddressTaken, match=r"192\.0\.2\.1:8080.*WHIST_HTTP_LISTEN"):
        require_free({"WHIST_ADMIN_LISTEN": "", "WHIST_HTTP_LISTEN": "192.0.2.1:8080"})


def test_the_page_is_named_for_a_browser_here_and_only_to_a_person(capsys: pytest.CaptureFixture[str]) -> None:
    assert page_url("0.0.0.0:8080") == page_url("127.0.0.1:8080") == "http://localhost:8080"
    assert page_url("whist.lan:80") == "http://whist.lan:80"
    greet("127.0.0.1:8080", "json")
    assert capsys.readouterr().err == ""
    greet("127.0.0.1:8080", "console")
    assert "http://localhost:8080 (Ctrl-C stops it)" in capsys.readouterr().err
