"""The few kinds of Grafana panels that the dashboards are made of; the same input makes the same bytes."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

DATASOURCE: Json = {"type": "prometheus", "uid": "${datasource}"}
COLUMNS = 24
QUANTILES = ("0.5", "0.95", "0.99")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One line of a panel: PromQL, and how its series are called."""

    expr: str
    legend: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """`kind` is Grafana's (timeseries, stat, heatmap); `unit` is Grafana's (s, ops, short, percentunit)."""

    title: str
    description: str
    unit: str
    queries: Sequence[Query]
    kind: str = "timeseries"
    width: int = 12
    height: int = 8
    # A line drawn where a promise ends.
    limit: float | None = None


def quantiles(metric: str, selector: str, by: str = "") -> list[Query]:
    """p50, p95 and p99 of a histogram over the dashboard's rate interval."""
    grouping, legend = (f"le, {by}", f" {{{{{by}}}}}") if by else ("le", "")
    return [
        Query(
            expr=f"histogram_quantile({q}, "
            f"sum by ({grouping}) (rate({metric}_bucket{{{selector}}}[$__rate_interval])))",
            legend=f"p{float(q) * 100:.0f}{legend}",
        )
        for q in QUANTILES
    ]


def heatmap(title: str, description: str, metric: str, selector: str, *, width: int = 24) -> Panel:
    """How the whole distribution of a histogram in seconds moves, not only three of its points."""
    expr = f"sum by (le) (increase({metric}_bucket{{{selector}}}[$__rate_interval]))"
    return Panel(
        title=title,
        description=description,
        unit="s",
        queries=[Query(expr=expr, legend="{{le}}")],
        kind="heatmap",
        width=width,
    )


def dashboard(uid: str, title: str, description: str, panels: Sequence[Panel]) -> str:
    """A dashboard's JSON; panels flow from left to right and wrap."""
    x = y = row_height = 0
    placed: list[Json] = []
    for number, panel in enumerate(panels, start=1):
        if x + panel.width > COLUMNS:
            x, y, row_height = 0, y + row_height, 0
        placed.append(_panel(number, panel, x, y))
        x, row_height = x + panel.width, max(row_height, panel.height)
    document = {
        "uid": uid,
        "title": title,
        "description": description,
        "tags": ["whist"],
        "schemaVersion": 41,
        "editable": False,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "timezone": "utc",
        "templating": {
            "list": [{"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}]
        },
        "links": [{"type": "dashboards", "title": "Whist", "tags": ["whist"], "asDropdown": True, "keepTime": True}],
        "panels": placed,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _panel(number: int, panel: Panel, x: int, y: int) -> Json:
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.description,
        "datasource": DATASOURCE,
        "gridPos": {"x": x, "y": y, "w": panel.width, "h": panel.height},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0, **_limit(panel.limit)}, "overrides": []},
        "options": _OPTIONS[panel.kind] | ({"yAxis": {"unit": panel.unit}} if panel.kind == "heatmap" else {}),
        "targets": [
            {
                "refId": chr(ord("A") + index),
                "datasource": DATASOURCE,
                "expr": query.expr,
                "legendFormat": query.legend,
                "format": "heatmap" if panel.kind == "heatmap" else "time_series",
            }
            for index, query in enumerate(panel.queries)
        ],
    }


def _limit(limit: float | None) -> Json:
    if limit is None:
        return {}
    steps = [{"color": "green", "value": None}, {"color": "red", "value": limit}]
    return {
        "thresholds": {"mode": "absolute", "steps": steps},
        "custom": {"thresholdsStyle": {"mode": "line"}},
    }


_OPTIONS: dict[str, Json] = {
    "timeseries": {
        "legend": {"displayMode": "table", "placement": "bottom", "calcs": ["lastNotNull", "max"]},
        "tooltip": {"mode": "multi", "sort": "desc"},
    },
    "stat": {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "background", "graphMode": "area"},
    "heatmap": {"calculate": False, "color": {"mode": "scheme", "scheme": "Spectral", "steps": 64}, "cellGap": 1},
}
