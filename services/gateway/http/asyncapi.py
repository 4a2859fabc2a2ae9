"""The socket's contract as AsyncAPI 3.0, made from the very types that decode and encode its frames."""

import inspect
from typing import Any, get_args

import msgspec

from libs.wire import frames

REFERENCE = "#/components/schemas/{name}"
# What a client's frame is answered with; the rest comes by itself.
REPLIES = {
    "Hello": ("Welcome", "Error"),
    "Join": ("Snapshot", "Delta", "Private", "Error"),
    "Act": ("Delta", "Ack", "Error"),
    "Quit": ("Ack", "Error"),
    "Watch": ("Queue",),
    "Enter": ("Waiting", "Chat", "Error"),
    "Say": ("Ack", "Error"),
    "Ping": ("Pong",),
}


def document(version: str, socket_url: str) -> dict[str, Any]:
    """The AsyncAPI document; `socket_url` as `GET /v1/config` tells it."""
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
