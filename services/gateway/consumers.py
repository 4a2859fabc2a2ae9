"""Topic to handler: every replica hears auth for itself, since any of them may hold the session's sockets."""

from collections.abc import Callable, Sequence

from libs.chassis.events.bus import Listener
from whist.auth.v1 import events_pb2

AUTH_TOPIC = "whist.auth.events.v1"


def listeners(revoked: Callable[[bytes], None], upgraded: Callable[[bytes], None]) -> Sequence[Listener]:
    """`revoked` is called with the id of each session that has ended, `upgraded` with that of each guest who became an
    account, within five seconds."""

    def on_auth(event: events_pb2.AuthEvent) -> None:
        match event.WhichOneof("event"):
            case "session_revoked":
                revoked(event.session_revoked.session_id)
            case "guest_upgraded":
                upgraded(event.guest_upgraded.account_id)

    return [Listener(topic=AUTH_TOPIC, message=events_pb2.AuthEvent, handle=on_auth)]
