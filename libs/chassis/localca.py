"""A throw-away certificate authority for one machine: a certificate a service, to run and test mutual TLS with.

Never for production, where certificates come from the cluster (`deploy/README.md`).
"""

import ipaddress
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from libs.chassis.clock import Clock, SystemClock
from libs.chassis.rpc.tls import TlsFiles

VALID = timedelta(days=365)
RENEW_BEFORE = timedelta(days=7)
SKEW = timedelta(minutes=5)  # containers of one machine may disagree a little about the time
AUTHORITY = "whist local CA"


def ensure(folder: Path, names: Sequence[str], *, clock: Clock | None = None) -> dict[str, TlsFiles]:
    """Make `folder`/<name>/{tls.crt,tls.key,ca.crt} for each name, and the CA beside them. Keys have mode 0600.

    Idempotent: what is there and still good for a week is kept; a new CA makes every certificate anew.
    """
    clock = clock or SystemClock()
    folder.mkdir(parents=True, exist_ok=True)
    authority, authority_key = _authority(folder, clock)
    made = {}
    for name in names:
        home = folder / name
        home.mkdir(exist_ok=True)
        files = TlsFiles(cert=home / "tls.crt", key=home / "tls.key", ca=home / "ca.crt")
        if not _good(files, authority, clock):
            _issue(files, name, authority, authority_key, clock)
        made[name] = files
    return made


def _authority(folder: Path, clock: Clock) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    cert_file, key_file = folder / "ca.crt", folder / "ca.key"
    if cert_file.exists() and key_file.exists():
        cert = x509.load_pem_x509_certificate(cert_file.read_bytes())
        key = serialization.load_pem_private_key(key_file.read_bytes(), password=None)
        if (
            isinstance(key, ec.EllipticCurvePrivateKey)
            and _lasts(cert, clock)
            and cert.public_key() == key.public_key()
        ):
            return cert, key
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, AUTHORITY)])
    cert = (
        _builder(name, name, key.public_key(), clock)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    _write_key(key_file, key)
    cert_file.write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    return cert, key


def _issue(
    files: TlsFiles, name: str, authority: x509.Certificate, authority_key: ec.EllipticCurvePrivateKey, clock: Clock
) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    # The service's name comes first: it is what callees take for the caller.
    names: list[x509.GeneralName] = [
        x509.DNSName(name),
        x509.DNSName("localhost"),
        x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
    ]
    cert = (
        _builder(subject, authority.subject, key.public_key(), clock)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False
        )
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    _write_key(files.key, key)
    files.cert.write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    files.ca.write_bytes(authority.public_bytes(serialization.Encoding.PEM))


def _builder(
    subject: x509.Name, issuer: x509.Name, public_key: ec.EllipticCurvePublicKey, clock: Clock
) -> x509.CertificateBuilder:
    now = clock.now()
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + VALID)
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True, key_cert_sign=signs, crl_sign=signs, key_encipherment=False, key_agreement=False,
        content_commitment=False, data_encipherment=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip


def _good(files: TlsFiles, authority: x509.Certificate, clock: Clock) -> bool:
    if not (files.cert.exists() and files.key.exists() and files.ca.exists()):
        return False
    cert = x509.load_pem_x509_certificate(files.cert.read_bytes())
    key = serialization.load_pem_private_key(files.key.read_bytes(), password=None)
    try:
        cert.verify_directly_issued_by(authority)
    except InvalidSignature:
        return False
    return _lasts(cert, clock) and cert.public_key() == key.public_key()


def _lasts(cert: x509.Certificate, clock: Clock) -> bool:
    return cert.not_valid_before_utc <= clock.now() < cert.not_valid_after_utc - RENEW_BEFORE


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    # Removed first, so that the new file never has the old one's mode.
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
