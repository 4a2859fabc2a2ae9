"""Grafana dashboards as code: file name → what makes its text."""

from collections.abc import Callable, Mapping

from deploy.observability.dashboards.overview import overview
from deploy.observability.dashboards.tables import tables

DASHBOARDS: Mapping[str, Callable[[], str]] = {"10-overview.json": overview, "30-tables.json": tables}
