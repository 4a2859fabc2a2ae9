"""``python -m services.allinone``: every service in this process. Exit status 2 for what a person has to change."""

import sys

import uvloop

from libs.chassis.entropy import SystemEntropy
from libs.chassis.logs import configure_logs
from libs.chassis.settings import WrongSettings, load_settings
from libs.chassis.telemetry.tracing import configure_tracing
from libs.house import platform
from services.allinone.addresses import AddressTaken, require_free
from services.allinone.home import Home, HomeTaken
from services.allinone.settings import AllInOneSettings
from services.allinone.terminal import quiet_libraries
from services.allinone.wiring import serve


def main() -> None:
    try:
        settings = load_settings(AllInOneSettings)
        configure_logs(settings.log_level, settings.log_format)
        quiet_libraries()
        configure_tracing("allinone", settings.otlp_endpoint, settings.trace_ratio)
        home = Home(settings.data_dir, SystemEntropy())
        with home.held():
            require_free(settings.listens())
            platform.load(settings.platform_config)  # each service reads it too; here a person sees one line
            uvloop.run(serve(settings, home))
    except (WrongSettings, HomeTaken, AddressTaken, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
