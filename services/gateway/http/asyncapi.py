"""The socket's contract as AsyncAPI 3.0, made from the very types that decode and encode its frames."""

import inspect
from typing import Any, get_args

import msgspec

from libs.wire import frames
from libs.wire.reasons import REASONS
from services.gateway.settings import GatewaySettings
from services.gateway.socket import company, connection, hub, listener

REFERENCE = "#/components/schemas/{name}"
# What a client's frame is answered with; the rest comes by itself.
REPLIES = {
    "Hello": ("Welcome", "Error"),
    "Join": ("Snapshot", "Delta", "Private", "Error"),
    "Act": ("Delta", "Ack", "Error"),
    "Quit": ("Delta", "Ack", "Error"),
    "Watch": ("Queue",),
    "Enter": ("Waiting", "Chat", "Error"),
    "Say": ("Ack", "Error"),
    "Ping": ("Pong",),
}


def document(version: str, socket_url: str, settings: GatewaySettings) -> dict[str, Any]:
    """The AsyncAPI document; `socket_url` as `GET /v1/config` tells it.

    Three extensions say what the standard has no place for: `x-close-codes`, `x-reasons` of `Error` and `x-limits`.
    """
    client, server = get_args(frames.ClientFrame), get_args(frames.ServerFrame)
    _, schemas = msgspec.json.schema_components((*client, *server), ref_template=REFERENCE)
    scheme, _, rest = socket_url.partition("://")
    host, _, path = rest.partition("/")
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Whist tables",
            "version": version,
            "description": inspect.getdoc(frames),
            "license": {"name": "MIT"},
        },
        "defaultContentType": "application/json",
        "x-close-codes": {str(code): meaning for code, meaning in sorted(frames.CLOSE_MEANINGS.items())},
        "x-reasons": dict(REASONS),
        "x-limits": limits(settings),
        "servers": {"gateway": {"host": host, "protocol": scheme}},
        "channels": {
            "socket": {
                "address": f"/{path}",
                "messages": {
                    kind.__name__: {"$ref": f"#/components/messages/{kind.__name__}"} for kind in (*client, *server)
                },
            }
        },
        "operations": {
            **{f"send{kind.__name__}": _sent(kind) for kind in client},
            **{f"receive{kind.__name__}": _operation("send", kind) for kind in server},
        },
        "components": {
            "messages": {
                kind.__name__: {
                    "name": kind.__struct_config__.tag,
                    "title": kind.__name__,
                    "summary": (inspect.getdoc(kind) or "").partition("\n")[0],
                    "description": inspect.getdoc(kind),
                    "payload": {"$ref": REFERENCE.format(name=kind.__name__)},
                }
                for kind in (*client, *server)
            },
            "schemas": schemas,
        },
    }


def limits(settings: GatewaySettings) -> dict[str, int | float | str]:
    """What a client must keep to; 0 or nothing: no limit. Milliseconds, bytes, numbers."""
    return {
        "hello_ms": round(connection.HELLO_SECONDS * 1000),
        "heartbeat_ms": round(hub.HEARTBEAT_SECONDS * 1000),
        "pong_ms": round(listener.PONG_SECONDS * 1000),
        "frame_bytes": frames.FRAME_MAX_BYTES,
        "fragments": connection.FRAGMENTS_MAX,
        "unread_bytes": connection.WRITE_BUFFER_MAX,
        "frames_per_second": settings.socket_rate,
        "frames_at_once": settings.socket_burst,
        "bad_frames": connection.BAD_FRAMES_MAX,
        "commands_unanswered": connection.COMMANDS_MAX,
        "sockets_per_account": hub.SOCKETS_PER_ACCOUNT,
        "sockets_per_network": settings.sockets_per_network,
        "tables_joined": connection.TABLES_MAX,
        "tables_entered": company.ENTERED_MAX,
        "chat_lines": settings.rate_chat,
    }


def _sent(kind: type[msgspec.Struct]) -> dict[str, Any]:
    operation = _operation("receive", kind)
    if kind.__name__ in REPLIES:
        operation["reply"] = {
            "channel": {"$ref": "#/channels/socket"},
            "messages": [{"$ref": f"#/channels/socket/messages/{name}"} for name in REPLIES[kind.__name__]],
        }
    return operation


def _operation(action: str, kind: type[msgspec.Struct]) -> dict[str, Any]:
    """As the application, here the gateway, sees it: it receives what clients send."""
    return {
        "action": action,
        "channel": {"$ref": "#/channels/socket"},
        "messages": [{"$ref": f"#/channels/socket/messages/{kind.__name__}"}],
    }
