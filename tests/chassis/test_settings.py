"""Settings name what is wrong; logs strike out secrets."""

import io
import json
import logging

import pytest
import structlog

from libs.chassis.logs import configure_logs, redact
from libs.chassis.settings import ServiceSettings, WrongSettings, load_settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WHIST_DATABASE_URL", "mysql://x"),
        ("WHIST_DATABASE_POOL", "0"),
        ("WHIST_TRACE_RATIO", "1.5"),
        ("WHIST_LOG_LEVEL", "loud"),
        ("WHIST_METRICS_LISTEN", "nowhere"),
        ("WHIST_DRAIN_SECONDS", "-1"),
        ("WHIST_KAFKA_IDEMPOTENT", "perhaps"),
    ],
)
def test_p83_a_wrong_setting_is_named_and_its_value_is_not_told(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(WrongSettings) as wrong:
        load_settings(ServiceSettings)
    assert str(wrong.value).startswith(f"{name}: ")


def test_every_wrong_setting_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHIST_DATABASE_URL", "postgres://canary-password@x")
    monkeypatch.setenv("WHIST_DATABASE_POOL", "1000")
    with pytest.raises(WrongSettings) as wrong:
        load_settings(ServiceSettings)
    assert [line.partition(":")[0] for line in str(wrong.value).splitlines()] == [
        "WHIST_DATABASE_URL",
        "WHIST_DATABASE_POOL",
    ]
    assert "canary" not in str(wrong.value)


SECRETS = ["token", "refresh_token", "code", "email", "e_mail", "client_secret", "password", "Authorization", "hand",
           "own_hand", "deck", "cards"]  # fmt: skip


@pytest.mark.parametrize("key", SECRETS)
def test_n7_a_key_that_names_a_secret_is_struck_out(key: str) -> None:
    assert redact(None, "info", {"event": "x", key: "canary"})[key] == "[redacted]"


@pytest.mark.parametrize("key", SECRETS)
def test_n7_also_inside_other_values(key: str) -> None:
    found = redact(None, "info", {"event": "x", "facts": {"seat": 1, "deep": {key: ["canary"]}}})
    assert found["facts"] == {"seat": 1, "deep": {key: "[redacted]"}}


def test_n7_what_names_no_secret_stays() -> None:
    line = {"event": "token", "account_id": "a", "tokens_left": 3, "handler": "x", "facts": {"seat": 1}}
    assert redact(None, "info", dict(line)) == line


def test_n7_lines_of_both_kinds_of_logger_are_json_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    root, output = logging.getLogger(), io.StringIO()
    monkeypatch.setattr("sys.stderr", output)
    handlers, level = root.handlers, root.level
    try:
        configure_logs("info", "json")
        structlog.get_logger().info("signed_in", account_id="a", code="12345678")
        logging.getLogger("library").warning("plain")
    finally:
        root.handlers = handlers
        root.setLevel(level)
        configured = root.handlers
        configure_logs("warning", "json")
        root.handlers = configured
    first, second = (json.loads(line) for line in output.getvalue().splitlines())
    assert (first["event"], first["code"], first["account_id"], first["level"]) == (
        "signed_in",
        "[redacted]",
        "a",
        "info",
    )
    assert (second["event"], second["level"]) == ("plain", "warning")


def test_a_logger_in_use_follows_when_logs_are_set_up_anew() -> None:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    log = structlog.get_logger()
    try:
        for _ in range(2):
            configure_logs("warning", "json")
            with structlog.testing.capture_logs() as logged:
                log.warning("told")
            assert [line["event"] for line in logged] == ["told"]
    finally:
        root.handlers = handlers
        root.setLevel(level)
