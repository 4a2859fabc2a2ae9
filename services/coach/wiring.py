"""Names the concrete classes of coach."""

from functools import partial

from libs.chassis.service import Chassis, Service, Spec
from libs.search import compiled
from services.coach.grpc_api import ALLOW, CoachApi
from services.coach.settings import CoachSettings
from services.coach.thinking import ThreadThinker
from whist.coach.v1.coach_pb2_grpc import add_CoachServiceServicer_to_server

INTERPRETED_SAMPLES = 50  # 20 to 120 ms; a thousand would take two seconds, in which nothing else moves in a process


def wire(chassis: Chassis[CoachSettings]) -> Service:
    """One API over a few threads; no database, no events."""
    settings = chassis.settings
    samples = settings.hint_samples if compiled() else min(settings.hint_samples, INTERPRETED_SAMPLES)
    thinker = ThreadThinker(settings.hint_workers, settings.hint_queue, samples)
    return Service(
        registrars=[partial(add_CoachServiceServicer_to_server, CoachApi(thinker))],
        allow=ALLOW,
        close=thinker.close,
    )


SPEC: Spec[CoachSettings] = Spec(name="coach", settings=CoachSettings, wire=wire)
