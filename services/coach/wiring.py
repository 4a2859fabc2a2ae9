"""Names the concrete classes of coach."""

from functools import partial

from libs.chassis.service import Chassis, Service, Spec
from services.coach.grpc_api import ALLOW, CoachApi
from services.coach.settings import CoachSettings
from services.coach.thinking import ThreadThinker
from whist.coach.v1.coach_pb2_grpc import add_CoachServiceServicer_to_server


def wire(chassis: Chassis[CoachSettings]) -> Service:
    """One API over a few threads; no database, no events."""
    thinker = ThreadThinker(chassis.settings.hint_workers, chassis.settings.hint_queue)
    return Service(
        registrars=[partial(add_CoachServiceServicer_to_server, CoachApi(thinker))],
        allow=ALLOW,
        close=thinker.close,
    )


SPEC: Spec[CoachSettings] = Spec(name="coach", settings=CoachSettings, wire=wire)
