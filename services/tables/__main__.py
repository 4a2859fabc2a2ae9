"""``python -m services.tables serve|migrate|check``."""

from libs.chassis.run import main
from services.tables.wiring import SPEC

if __name__ == "__main__":
    main(SPEC)
