from libs.chassis.run import main
from services.auth.wiring import SPEC

main(SPEC)
