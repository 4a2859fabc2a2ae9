"""Key files: made once, checked at the start, and rotated without a token being refused."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from libs.chassis.clock import ManualClock
from libs.chassis.entropy import SeededEntropy
from libs.chassis.tokens import AccessTokens, TokenInvalid
from services.auth.domain.accounts import Account, AccountId, SessionId
from services.auth.domain.pepper import Pepper
from services.auth.mail.folder import FolderMailer
from services.auth.mail.smtp import SmtpMailer
from services.auth.settings import AuthSettings
from services.auth.storage.keys import CodeSealer, KeyRing, ensure_key, ensure_pepper, read_keys, read_pepper
from services.auth.wiring import mailer_of

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ENTROPY = SeededEntropy(1)
ANA = Account(account_id=AccountId(ENTROPY.uuid7()), name="Vulpe 42", guest=False, created_at=NOW)


def add_key(folder: Path, kid: str) -> None:
    spare = folder / "spare"
    ensure_key(spare, ENTROPY)
    next(spare.glob("*.pem")).rename(folder / f"{kid}.pem")


def kid_of(ring: KeyRing) -> str:
    token, _ = ring.sign(ANA, SessionId(ENTROPY.uuid7()), NOW)
    return str(jwt.get_unverified_header(token)["kid"])


def test_a_missing_key_and_pepper_are_made_once_for_their_owner_alone(tmp_path: Path) -> None:
    for _ in range(3):
        ensure_key(tmp_path / "keys", ENTROPY)
        ensure_pepper(tmp_path / "deep" / "pepper", ENTROPY)

    (key,) = (tmp_path / "keys").iterdir()
    assert key.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "deep" / "pepper").stat().st_mode & 0o777 == 0o600
    assert len(read_pepper(tmp_path / "deep" / "pepper").secret) == 32
    assert list(read_keys(tmp_path / "keys")) == [key.stem]
    assert list((tmp_path / "deep").iterdir()) == [tmp_path / "deep" / "pepper"]


def test_the_newest_key_signs_and_all_are_published(tmp_path: Path) -> None:
    add_key(tmp_path, "2026-10")
    add_key(tmp_path, "2026-11")
    ring = KeyRing(tmp_path, ENTROPY, ManualClock(NOW))

    assert kid_of(ring) == "2026-11"
    keys = json.loads(ring.jwks())["keys"]
    assert [key["kid"] for key in keys] == ["2026-10", "2026-11"]
    assert all(set(key) == {"kty", "crv", "use", "alg", "kid", "x"} for key in keys)


def test_a_key_that_is_added_is_published_at_once_and_signs_ten_minutes_later(tmp_path: Path) -> None:
    add_key(tmp_path, "2026-10")
    clock = ManualClock(NOW)
    ring = KeyRing(tmp_path, ENTROPY, clock)
    add_key(tmp_path, "2026-11")
    ring.reload()
    before = ring.jwks()

    assert kid_of(ring) == "2026-10"
    clock.advance(599)
    ring.reload()
    assert kid_of(ring) == "2026-10"
    clock.advance(2)
    assert kid_of(ring) == "2026-11"
    token, _ = ring.sign(ANA, SessionId(ENTROPY.uuid7()), NOW)
    assert AccessTokens().verify(token, before, NOW).account_id == ANA.account_id


def test_tokens_of_an_old_key_are_good_until_it_is_removed(tmp_path: Path) -> None:
    add_key(tmp_path, "2026-10")
    clock = ManualClock(NOW)
    ring = KeyRing(tmp_path, ENTROPY, clock)
    token, expires_at = ring.sign(ANA, SessionId(ENTROPY.uuid7()), NOW)
    add_key(tmp_path, "2026-11")
    ring.reload()
    assert AccessTokens().verify(token, ring.jwks(), NOW).expires_at == expires_at == NOW + timedelta(minutes=10)

    (tmp_path / "2026-10.pem").unlink()
    ring.reload()
    assert kid_of(ring) == "2026-11"
    with pytest.raises(TokenInvalid):
        AccessTokens().verify(token, ring.jwks(), NOW)


def test_a_folder_that_becomes_unreadable_changes_nothing(tmp_path: Path) -> None:
    add_key(tmp_path, "2026-10")
    ring = KeyRing(tmp_path, ENTROPY, ManualClock(NOW))
    (tmp_path / "2026-11.pem").write_text("half a key")

    with pytest.raises(ValueError, match=r"2026-11\.pem is no readable PEM private key"):
        ring.reload()
    assert kid_of(ring) == "2026-10"


def test_a_wrong_key_file_stops_the_start_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"WHIST_SIGNING_KEYS: .* has no \*\.pem file"):
        read_keys(tmp_path)
    pem = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (tmp_path / "curve.pem").write_bytes(pem)
    with pytest.raises(ValueError, match=r"WHIST_SIGNING_KEYS: .*curve\.pem is not an Ed25519 key"):
        read_keys(tmp_path)


@pytest.mark.parametrize("content", ["", "abcd", "z" * 64, "é"])
def test_a_wrong_pepper_stops_the_start_and_is_not_repeated(tmp_path: Path, content: str) -> None:
    (tmp_path / "pepper").write_text(content)

    with pytest.raises(ValueError, match=r"WHIST_PEPPER_FILE: .* must hold 64 or more hex digits$"):
        read_pepper(tmp_path / "pepper")
    with pytest.raises(ValueError, match="WHIST_PEPPER_FILE"):
        read_pepper(tmp_path / "nowhere")


def test_a_sealed_code_opens_for_its_letter_and_pepper_alone() -> None:
    sealer = CodeSealer(Pepper(bytes(32)), ENTROPY)
    sealed = sealer.seal(b"letter", "01234567")

    assert sealer.open(b"letter", sealed) == "01234567"
    assert b"01234567" not in sealed
    assert sealer.seal(b"letter", "01234567") != sealed
    for other, text in (
        (sealer, b"another"),
        (CodeSealer(Pepper(b"\x01" * 32), ENTROPY), b"letter"),
    ):
        with pytest.raises(ValueError, match="sealed under another pepper"):
            other.open(text, sealed)


def test_the_pepper_is_not_shown() -> None:
    assert repr(Pepper(b"secret" * 8)) == "Pepper()"


def test_mail_goes_one_way(tmp_path: Path) -> None:
    assert AuthSettings(mail_dir=tmp_path).mail_dir == tmp_path
    assert AuthSettings(smtp_host="mail.example").smtp_port == 587
    assert isinstance(mailer_of(AuthSettings(mail_dir=tmp_path), 10), FolderMailer)
    assert isinstance(mailer_of(AuthSettings(smtp_host="mail.example"), 10), SmtpMailer)
    for wrong in ({}, {"mail_dir": tmp_path, "smtp_host": "mail.example"}):
        with pytest.raises(ValueError, match="set one of WHIST_MAIL_DIR and WHIST_SMTP_HOST"):
            AuthSettings(**wrong)  # type: ignore[arg-type]
