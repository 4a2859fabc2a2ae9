from libs.chassis.run import main
from services.coach.wiring import SPEC

main(SPEC)
