from libs.chassis.run import main
from services.matchmaking.wiring import SPEC

main(SPEC)
