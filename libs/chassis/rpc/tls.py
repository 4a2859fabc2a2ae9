"""Mutual TLS from mounted files; one machine may run without, on Unix sockets or loopback."""

import ssl
from dataclasses import dataclass
from pathlib import Path

import grpc

from libs.chassis.settings import ServiceSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsFiles:
    """PEM files of one service; its certificate's SAN is the service's name."""

    cert: Path
    key: Path
    ca: Path

    @classmethod
    def of(cls, settings: ServiceSettings) -> "TlsFiles | None":
        """None when no file is set. Raises ValueError when only some are, or one cannot be used."""
        files = (settings.tls_cert, settings.tls_key, settings.tls_ca)
        if not any(files):
            return None
        cert, key, ca = files
        if cert is None or key is None or ca is None:
            raise ValueError("WHIST_TLS_CERT, WHIST_TLS_KEY and WHIST_TLS_CA belong together")
        _check(cert, key, ca)
        return cls(cert=cert, key=key, ca=ca)

    def server(self) -> grpc.ServerCredentials:
        """Asks for and verifies the caller's certificate."""
        return grpc.ssl_server_credentials(
            [(self.key.read_bytes(), self.cert.read_bytes())],
            root_certificates=self.ca.read_bytes(),
            require_client_auth=True,
        )

    def channel(self) -> grpc.ChannelCredentials:
        return grpc.ssl_channel_credentials(
            root_certificates=self.ca.read_bytes(),
            private_key=self.key.read_bytes(),
            certificate_chain=self.cert.read_bytes(),
        )


def _check(cert: Path, key: Path, ca: Path) -> None:
    """gRPC itself says nothing of a wrong file but that handshakes fail."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_verify_locations(ca)
    except OSError as error:  # an SSLError is one
        raise ValueError(f"WHIST_TLS_CA: {ca}: {error}") from error
    try:
        context.load_cert_chain(cert, key)
    except OSError as error:
        raise ValueError(f"WHIST_TLS_CERT, WHIST_TLS_KEY: {cert}, {key}: {error}") from error
