"""Pages and contracts: complete, without scripts, without other hosts, without drift."""

import re
from pathlib import Path
from typing import get_args

import httpx
import pytest
from jsonschema import Draft202012Validator

from libs.chassis.errors import DomainError
from libs.wire import frames
from libs.wire.reasons import REASONS
from services.tables.domain import errors
from tests.services.gateway.world import Stage, staged

PAGES = ("/", "/docs", "/docs/socket")
ROOT = Path(__file__).parents[3]
# Refusals of tables that only REST, or another service, is given.
NEVER_ON_A_SOCKET = {
    "ALREADY_SEATED", "BAD_CHOICE", "BAD_OPTIONS", "GAME_RUNNING", "GUESTS_OPEN_NO_TABLE", "NOT_HOST", "NO_SUCH_SEAT",
    "NO_TAKE_OVER", "SEATS_OCCUPIED", "SEAT_TAKEN", "TABLE_ABANDONED", "TABLE_DEALT",
    "BAD_WEEK", "BAD_LIMIT", "BAD_SPAN",
}  # fmt: skip


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_needs_no_script_and_no_other_host(http: httpx.AsyncClient, path: str) -> None:
    page = await http.get(path)
    assert page.status_code == 200
    assert "<script" not in page.text and "style=" not in page.text
    assert not re.findall(r"(?:src|href)=[\"'](?:https?:)?//", page.text)
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy
    assert (await http.get("/style.css")).headers["content-type"].startswith("text/css")


async def test_answers_carry_the_headers_that_browsers_need(http: httpx.AsyncClient) -> None:
    headers = (await http.get("/v1/config")).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers and "access-control-allow-origin" not in headers


async def test_the_rest_page_shows_every_route_of_the_document(http: httpx.AsyncClient) -> None:
    document = (await http.get("/openapi.json")).json()
    page = (await http.get("/docs")).text
    assert document["openapi"].startswith("3.1")
    for path, verbs in document["paths"].items():
        assert f"<code>{path}</code>" in page
        for route in verbs.values():
            assert route["description"] and f'id="{route["operationId"]}"' in page
    operations = [route["operationId"] for verbs in document["paths"].values() for route in verbs.values()]
    assert len(operations) == len(set(operations))


async def test_every_request_body_forbids_what_it_does_not_know(http: httpx.AsyncClient) -> None:
    document = (await http.get("/openapi.json")).json()
    schemas = document["components"]["schemas"]
    bodies = [
        reference.rpartition("/")[2]
        for verbs in document["paths"].values()
        for route in verbs.values()
        for reference in re.findall(r"#/components/schemas/\w+", str(route.get("requestBody", "")))
    ]
    assert bodies
    for name in bodies:
        assert schemas[name]["additionalProperties"] is False, name


async def test_answers_fit_the_document(stage: Stage, http: httpx.AsyncClient) -> None:
    document = (await http.get("/openapi.json")).json()
    http.headers["Authorization"] = f"Bearer {stage.world.keys.token()}"
    for path in (
        "/v1/config",
        "/v1/me",
        "/v1/wallet",
        "/v1/wallet/history",
        "/v1/rooms",
        "/v1/queue",
        "/v1/leagues/me",
    ):
        route = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        validator = Draft202012Validator({**route, "components": document["components"]})
        validator.validate((await http.get(path)).json())


async def test_the_asyncapi_document_knows_every_frame_and_resolves(http: httpx.AsyncClient) -> None:
    document = (await http.get("/asyncapi.json")).json()
    kinds = (*get_args(frames.ClientFrame), *get_args(frames.ServerFrame))
    assert document["asyncapi"] == "3.0.0"
    assert {message["name"] for message in document["components"]["messages"].values()} == {
        kind.__struct_config__.tag for kind in kinds
    }
    assert len(document["operations"]) == len(kinds)
    for reference in set(re.findall(r"'\$ref': '#/([^']+)'", str(document))):
        found = document
        for step in reference.split("/"):
            found = found[step]
    hello = {"$ref": "#/components/schemas/Hello", "components": document["components"]}
    Draft202012Validator(hello).validate({"t": "hello", "token": "x"})
    assert not Draft202012Validator(hello).is_valid({"t": "hello", "token": "x", "more": 1})
    page = (await http.get("/docs/socket")).text
    for kind in kinds:
        assert f'id="{kind.__name__}"' in page
    for extension in ("x-close-codes", "x-reasons", "x-limits"):
        assert document[extension] and all(name in page for name in document[extension])


async def test_the_asyncapi_document_tells_every_close_code_the_limits_and_how_to_resume(
    http: httpx.AsyncClient,
) -> None:
    document = (await http.get("/asyncapi.json")).json()
    codes = {str(code) for name, code in vars(frames.CloseCode).items() if name.isupper()}
    assert set(document["x-close-codes"]) == codes
    assert document["x-limits"]["frame_bytes"] == frames.FRAME_MAX_BYTES
    assert document["x-limits"]["heartbeat_ms"] == (await http.get("/v1/config")).json()["heartbeat_ms"]
    join = document["components"]["schemas"]["Join"]["properties"]
    assert join["since"]["minimum"] == 0


def test_the_asyncapi_document_knows_every_reason_that_a_socket_may_be_given() -> None:
    """What the gateway says itself and what the rules refuse, as the code has it."""
    said = re.compile(r"\b(?:refuse|reject)\(\s*\"([A-Z_]+)\"")
    rules = re.compile(r"RuleViolation\(\s*\"([A-Z_]+)\"(?: if [^)]* else \"([A-Z_]+)\")?")
    found = {
        reason
        for pattern, folder in ((said, "services/gateway/socket"), (rules, "libs/engine"))
        for path in (ROOT / folder).rglob("*.py")
        for reasons in pattern.findall(path.read_text())
        for reason in ([reasons] if isinstance(reasons, str) else reasons)
        if reason
    }
    assert len(found) > 20
    assert found - {"BAD_OPTIONS"} <= set(REASONS), "options are refused by REST, which opens tables"
    tables = {
        error.reason
        for error in vars(errors).values()
        if isinstance(error, type) and issubclass(error, DomainError) and error is not DomainError
    }
    assert tables - NEVER_ON_A_SOCKET <= set(REASONS)
    assert tables >= NEVER_ON_A_SOCKET


@pytest.mark.parametrize("path", ["/docs", "/docs/socket"])
async def test_a_docstrings_backticks_are_shown_as_code(http: httpx.AsyncClient, path: str) -> None:
    page = (await http.get(path)).text
    assert "`" not in page
    assert re.search(r"<p>[^<]*<code>", page)


async def test_docs_can_be_switched_off(short_folder: Path) -> None:
    async with staged(short_folder, docs=False) as stage, httpx.AsyncClient(base_url=stage.http_url) as client:
        for path in ("/docs", "/docs/socket", "/openapi.json", "/asyncapi.json"):
            assert (await client.get(path)).status_code == 404
        assert "/docs" not in (await client.get("/")).text


async def test_mails_are_shown_only_where_a_folder_is_set_and_never_as_markup(short_folder: Path) -> None:
    mails = short_folder / "mails"
    mails.mkdir()
    (mails / "1.eml").write_bytes(
        b"To: ana@example.org\r\nSubject: Your code\r\n\r\n12345678 <script>alert(1)</script>"
    )
    async with staged(short_folder, mail_dir=mails) as stage, httpx.AsyncClient(base_url=stage.http_url) as client:
        page = (await client.get("/dev/mail")).text
        assert "12345678" in page and "<script" not in page
        assert "To ana@example.org</p>" in page, "a mail without a date"
        assert "/dev/mail" in (await client.get("/")).text


async def test_a_built_web_client_is_served_with_its_own_routes_and_nothing_outside_its_folder(
    short_folder: Path,
) -> None:
    web = short_folder / "web"
    web.mkdir()
    (web / "index.html").write_text("<!doctype html><title>client</title>")
    (web / "app.js").write_text("1")
    (short_folder / "secret.txt").write_text("secret")
    async with staged(short_folder, web_dir=web) as stage, httpx.AsyncClient(base_url=stage.http_url) as client:
        for path in ("/", "/table/1"):
            page = await client.get(path)
            assert "client" in page.text
            assert (
                f"connect-src 'self' ws://127.0.0.1:{stage.gateway.socket_port};"
                in page.headers["content-security-policy"]
            )
        assert (await client.get("/app.js")).text == "1"
        for path in ("/missing.js", "/v1/nothing", "/..%2fsecret.txt", "/%2e%2e/secret.txt"):
            answer = await client.get(path)
            assert answer.status_code == 404 and "secret" not in answer.text, path
        assert (await client.get("/v1/config")).status_code == 200
