from libs.chassis.run import main
from services.gateway.wiring import SPEC

main(SPEC)
