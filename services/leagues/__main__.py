from libs.chassis.run import main
from services.leagues.wiring import SPEC

main(SPEC)
