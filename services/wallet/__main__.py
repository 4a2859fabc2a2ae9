from libs.chassis.run import main
from services.wallet.wiring import SPEC

main(SPEC)
