"""What is accepted as an access token, and all that is not (reliability A5, RFC 8725)."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from libs.chassis.clock import SystemClock
from libs.chassis.errors import Kind
from libs.chassis.tokens import AccessTokens, Claims, TokenExpired, TokenInvalid, jwk_of, keys_of

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ACCOUNT, SESSION = UUID(int=1 << 100), UUID(int=2 << 100)
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
JWKS = json.dumps({"keys": [jwk_of("2026", KEY.public_key())]})
PUBLIC_PEM = KEY.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
PAYLOAD: dict[str, Any] = {
    "iss": "whist-auth",
    "aud": "whist",
    "sub": ACCOUNT.hex,
    "sid": SESSION.hex,
    "jti": "a" * 32,
    "guest": False,
    "iat": NOW,
    "nbf": NOW,
    "exp": NOW + timedelta(minutes=10),
}
HEADER = {"kid": "2026", "typ": "at+jwt"}


def token(payload: dict[str, Any] | None = None, header: dict[str, Any] | None = None, key: Any = KEY) -> str:
    """A good token but for what is given; a value of None leaves the name out."""
    merged = {**PAYLOAD, **(payload or {})}
    return jwt.encode(
        {name: value for name, value in merged.items() if value is not None},
        key,
        algorithm="EdDSA",
        headers={**HEADER, **(header or {})},
    )


def raw(header: dict[str, Any], payload: dict[str, Any], sign: Callable[[bytes], bytes]) -> str:
    """A token put together by hand."""
    parts = [
        _b64(json.dumps(part, default=lambda moment: int(moment.timestamp())).encode()) for part in (header, payload)
    ]
    signed = ".".join(parts)
    return f"{signed}.{_b64(sign(signed.encode()))}"


def _b64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def hs256(secret: bytes) -> Callable[[bytes], bytes]:
    return lambda signed: hmac.new(secret, signed, hashlib.sha256).digest()


def verify(text: str, *, jwks: str = JWKS, now: datetime = NOW) -> Claims:
    return AccessTokens().verify(text, jwks, now)


def test_a_good_token_says_who_bears_it() -> None:
    assert verify(token({"guest": True})) == Claims(
        account_id=ACCOUNT, session_id=SESSION, guest=True, expires_at=NOW + timedelta(minutes=10)
    )


FORGED = {
    "alg none": raw({**HEADER, "alg": "none"}, PAYLOAD, lambda _: b""),
    "alg None": raw({**HEADER, "alg": "None"}, PAYLOAD, lambda _: b""),
    "no alg": raw(HEADER, PAYLOAD, KEY.sign),
    "alg none with our signature": raw({**HEADER, "alg": "none"}, PAYLOAD, KEY.sign),
    "HS256 with the public PEM": raw({**HEADER, "alg": "HS256"}, PAYLOAD, hs256(PUBLIC_PEM)),
    "HS256 with the public bytes": raw({**HEADER, "alg": "HS256"}, PAYLOAD, hs256(KEY.public_key().public_bytes_raw())),
    "HS256 with the key's name": raw({**HEADER, "alg": "HS256"}, PAYLOAD, hs256(b"2026")),
    "RS256": jwt.encode(PAYLOAD, rsa.generate_private_key(65537, 2048), algorithm="RS256", headers=HEADER),
    "ES256": jwt.encode(PAYLOAD, ec.generate_private_key(ec.SECP256R1()), algorithm="ES256", headers=HEADER),
    "a key of another environment": token(key=OTHER),
    "an unknown kid": token(header={"kid": "2027"}),
    "a kid that is a path": token(header={"kid": "../../../../dev/null"}),
    "a kid that is SQL": token(header={"kid": "x' union select 'secret"}),
    "no kid": raw({"alg": "EdDSA", "typ": "at+jwt"}, PAYLOAD, KEY.sign),
    "a kid that is no text": raw({**HEADER, "alg": "EdDSA", "kid": 2026}, PAYLOAD, KEY.sign),
    "a kid that is a list": raw({**HEADER, "alg": "EdDSA", "kid": ["2026"]}, PAYLOAD, KEY.sign),
    "an own key in jwk": token(header={"jwk": dict(jwk_of("2026", OTHER.public_key()))}, key=OTHER),
    "an own set in jku": token(header={"jku": "https://evil.example/jwks"}, key=OTHER),
    "an own certificate in x5u": token(header={"x5u": "https://evil.example/x5u"}, key=OTHER),
    "type JWT": token(header={"typ": "JWT"}),
    "no type": raw({"alg": "EdDSA", "kid": "2026"}, PAYLOAD, KEY.sign),
    "a critical header": token(header={"crit": ["exp"], "exp": 1}),
    "an unencoded payload": raw({**HEADER, "alg": "EdDSA", "b64": False, "crit": ["b64"]}, PAYLOAD, KEY.sign),
    "another audience": token({"aud": "elsewhere"}),
    "no audience": token({"aud": None}),
    "another issuer": token({"iss": "whist"}),
    "no issuer": token({"iss": None}),
    "no account": token({"sub": None}),
    "an account with dashes": token({"sub": str(ACCOUNT)}),
    "an account in capitals": token({"sub": ACCOUNT.hex.upper().replace("0", "A")}),
    "a short account": token({"sub": "abc"}),
    "no session": token({"sid": None}),
    "a session that is a number": token({"sid": 7}),
    "no jti": token({"jti": None}),
    "no expiry": token({"exp": None}),
    "an expiry that is text": raw({**HEADER, "alg": "EdDSA"}, {**PAYLOAD, "exp": "9999999999"}, KEY.sign),
    "an expiry beyond time": token({"exp": 10**30}),
    "an expiry that is a flag": token({"exp": True}),
    "no begin": token({"nbf": None}),
    "no issue": token({"iat": None}),
    "no guest flag": token({"guest": None}),
    "a guest flag that is text": token({"guest": "false"}),
    "a guest flag that is a number": token({"guest": 0}),
    "nothing": "",
    "dots": "..",
    "no signature": token().rpartition(".")[0] + ".",
    "four parts": token() + ".x",
    "a payload that is a list": raw({**HEADER, "alg": "EdDSA"}, [], KEY.sign),  # type: ignore[arg-type]
    "nested lists": f"{_b64(b'[' * 1000)}.{_b64(b'{}')}.x",
    "a megabyte": token() + "a" * 1_000_000,
    "no ASCII": "é" * 40,
}


@pytest.mark.parametrize("text", FORGED.values(), ids=FORGED.keys())
def test_a5_what_is_no_token_of_ours_is_refused(text: str) -> None:
    with pytest.raises(TokenInvalid) as refusal:
        verify(text)

    assert refusal.value.kind is Kind.UNAUTHENTICATED
    assert refusal.value.reason == "TOKEN_INVALID"


def test_a5_a_good_token_with_headers_that_name_keys_is_verified_with_our_own() -> None:
    header = {
        "jku": "https://evil.example/jwks",
        "x5u": "https://evil.example",
        "jwk": dict(jwk_of("2026", OTHER.public_key())),
    }

    assert verify(token(header=header)).account_id == ACCOUNT


@pytest.mark.parametrize(
    ("seconds", "error"),
    [
        (-31, TokenInvalid),
        (-30, None),
        (0, None),
        (600, None),
        (629, None),
        (630, TokenExpired),
        (86_400, TokenExpired),
    ],
)
def test_a5_a_token_is_good_for_its_time_and_thirty_seconds_of_leeway(
    seconds: int, error: type[TokenInvalid | TokenExpired] | None
) -> None:
    text, moment = token(), NOW + timedelta(seconds=seconds)

    if error is None:
        assert verify(text, now=moment).session_id == SESSION
    else:
        with pytest.raises(error) as refusal:
            verify(text, now=moment)
        assert refusal.value.kind is Kind.UNAUTHENTICATED


def test_a_forged_token_that_is_also_expired_is_invalid_not_expired() -> None:
    with pytest.raises(TokenInvalid):
        verify(token(key=OTHER), now=NOW + timedelta(days=1))


@given(place=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_a5_a_token_with_any_bit_turned_is_refused_or_says_the_same(place: int, bit: int) -> None:
    good = token()
    place %= len(good)
    bad = good[:place] + chr(ord(good[place]) ^ (1 << bit)) + good[place + 1 :]

    try:
        claims = verify(bad)
    except TokenInvalid:
        return
    # Only the unused bits at the signature's very end may differ.
    assert place == len(good) - 1
    assert claims == verify(good)


def test_keys_are_taken_from_the_set_that_is_given_each_time() -> None:
    tokens = AccessTokens()
    others = json.dumps({"keys": [jwk_of("2026", OTHER.public_key())]})
    assert tokens.verify(token(), JWKS, NOW)

    with pytest.raises(TokenInvalid):
        tokens.verify(token(), others, NOW)
    assert tokens.verify(token(key=OTHER), others, NOW)
    assert tokens.verify(token(), JWKS, NOW)


def test_of_a_set_only_ed25519_keys_that_sign_are_taken() -> None:
    mine = dict(jwk_of("good", KEY.public_key()))
    found = keys_of(
        json.dumps(
            {
                "keys": [
                    mine,
                    {"kty": "oct", "kid": "oct", "k": "c2VjcmV0"},
                    {**mine, "kid": "enc", "use": "enc"},
                    {**mine, "kid": "ed448", "crv": "Ed448"},
                ]
            }
        )
    )

    assert list(found) == ["good"]


@pytest.mark.parametrize(
    "jwks", ["", "[]", "{}", '{"keys": 1}', "not json", '{"keys": [1]}', '{"keys": [{"kty": "OKP", "crv": "Ed25519"}]}']
)
def test_what_is_no_key_set_is_an_error_of_the_caller(jwks: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        verify(token(), jwks=jwks)


def test_verifying_costs_little_more_than_the_signature_itself() -> None:
    """160 µs where the bare signature takes 100; a ratio, so that a busy machine doesn't count."""
    tokens, text, clock = AccessTokens(), token(), SystemClock()
    signed, _, signature = text.rpartition(".")
    bare, whole = [], []
    for _ in range(500):
        started = clock.monotonic()
        KEY.public_key().verify(base64.urlsafe_b64decode(signature + "=="), signed.encode())
        between = clock.monotonic()
        tokens.verify(text, JWKS, NOW)
        bare.append(between - started)
        whole.append(clock.monotonic() - between)

    assert min(whole) <= 2.5 * min(bare)
