"""`python -m deploy.observability.dashboards` rewrites the JSON files beside the modules that describe them."""

from pathlib import Path

from deploy.observability.dashboards import DASHBOARDS

HERE = Path(__file__).parent

for name, make in DASHBOARDS.items():
    (HERE / name).write_text(make())
