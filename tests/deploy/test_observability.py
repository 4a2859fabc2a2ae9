"""Rules and dashboards ask only for what the code measures, and every alert leads to a page that says what to do."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from prometheus_client import REGISTRY
from prometheus_client.metrics import MetricWrapperBase

from deploy.manifests import DEPLOY, ROOT
from deploy.observability.dashboards import DASHBOARDS
from deploy.observability.dashboards.tables import STAGES
from libs.wire import metrics as wire_metrics

OBSERVABILITY = DEPLOY / "observability"
RULES = sorted((OBSERVABILITY / "rules").glob("*.yaml"))
RUNBOOK = ROOT / "docs" / "runbook.md"
SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_count", "_sum")}
# What Prometheus and our scrape configuration add to every series.
SCRAPE_LABELS = {"pod", "node", "instance", "job"}


def exposed() -> dict[str, MetricWrapperBase]:
    """Series name → metric, of every metric that services and libraries declare."""
    for file in (*ROOT.glob("services/*/metrics.py"), *ROOT.glob("libs/**/metrics.py")):
        import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
    series: dict[str, MetricWrapperBase] = {}
    for metric in REGISTRY._collector_to_names:
        if isinstance(metric, MetricWrapperBase):
            series |= {f"{metric._name}{suffix}": metric for suffix in SUFFIXES[str(metric._type)]}
    return series


def rules() -> Iterator[dict[str, Any]]:
    for file in RULES:
        for group in yaml.safe_load(file.read_text())["groups"]:
            yield from group["rules"]


def alerts() -> list[dict[str, Any]]:
    return [rule for rule in rules() if "alert" in rule]


def panels() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, make in DASHBOARDS.items():
        for panel in json.loads(make())["panels"]:
            yield name, panel


def expressions() -> list[str]:
    """Every PromQL text of rules and panels; Grafana's variable stands for a time."""
    shown = [target["expr"] for _, panel in panels() for target in panel["targets"]]
    return [rule["expr"] for rule in rules()] + [each.replace("$__rate_interval", "5m") for each in shown]


def selectors(expr: str) -> Iterator[promql_parser.VectorSelector]:
    """Each series that an expression reads."""
    waiting: list[Any] = [promql_parser.parse(expr)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, promql_parser.VectorSelector):
            yield node
        for name in ("lhs", "rhs", "expr", "param", "args", "vector_selector"):
            child = getattr(node, name, None)
            if child is not None:
                waiting += list(child) if isinstance(child, list | tuple) else [child]


def test_every_expression_reads_metrics_that_the_code_declares() -> None:
    known = exposed().keys() | {rule["record"] for rule in rules() if "record" in rule} | {"up"}
    read = {selector.name for expr in expressions() for selector in selectors(expr)}
    assert "whist_turn_seconds_bucket" in read
    assert read - known == set()


def test_every_label_that_is_matched_or_grouped_by_is_one_of_the_metrics() -> None:
    series = exposed()
    for expr in expressions():
        found = list(selectors(expr))
        carried = SCRAPE_LABELS | {"le"}
        for selector in found:
            if selector.name in series:
                labels = SCRAPE_LABELS | set(series[selector.name]._labelnames)
                carried |= labels
                matched = {matcher.name for matcher in selector.matchers.matchers}
                assert matched - labels - {"le"} == set(), expr
        grouped = {label.strip() for group in re.findall(r"\bby \(([^)]*)\)", expr) for label in group.split(",")}
        assert grouped - carried == set(), expr


def test_every_bucket_that_is_named_is_a_bucket_of_its_histogram() -> None:
    series = exposed()
    named = {
        (str(selector.name), matcher.value)
        for expr in expressions()
        for selector in selectors(expr)
        for matcher in selector.matchers.matchers
        if matcher.name == "le"
    }
    assert named
    for name, bound in named:
        assert float(bound) in series[name]._upper_bounds  # type: ignore[attr-defined]


def test_p81_the_tables_page_shows_each_stage_of_a_turn() -> None:
    declared = {key[0] for key in wire_metrics.turn_seconds._metrics}
    assert set(STAGES) == declared
    shown = {
        match
        for name, panel in panels()
        if name == "30-tables.json"
        for target in panel["targets"]
        for match in re.findall(r'whist_turn_seconds_bucket\{stage="(\w+)"\}', target["expr"])
    }
    assert shown == declared
    kinds = {panel["type"] for name, panel in panels() if name == "30-tables.json"}
    assert "heatmap" in kinds


@pytest.mark.parametrize("name", DASHBOARDS)
def test_dashboards_in_the_tree_are_what_their_modules_make(name: str) -> None:
    stored = (OBSERVABILITY / "dashboards" / name).read_text()
    assert stored == DASHBOARDS[name](), "run: python -m deploy.observability.dashboards"
    assert DASHBOARDS[name]() == DASHBOARDS[name]()


def test_every_dashboard_in_the_tree_has_a_module_and_ships() -> None:
    shipped = yaml.safe_load((OBSERVABILITY / "kustomization.yaml").read_text())["configMapGenerator"]
    files = {each["name"]: each.get("files", ()) for each in shipped}
    assert {path.name for path in (OBSERVABILITY / "dashboards").glob("*.json")} == set(DASHBOARDS)
    assert sorted(files["whist-dashboards"]) == sorted(f"dashboards/{name}" for name in DASHBOARDS)
    assert sorted(files["whist-rules"]) == [f"rules/{path.name}" for path in RULES]


def test_every_panel_says_what_it_shows_and_in_which_unit() -> None:
    for name, panel in panels():
        assert panel["title"], name
        assert len(panel["description"]) > 15, panel["title"]
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
        assert panel["targets"], panel["title"]


def test_panels_do_not_lie_on_each_other() -> None:
    for name in DASHBOARDS:
        taken: set[tuple[int, int]] = set()
        for _, panel in (each for each in panels() if each[0] == name):
            place = panel["gridPos"]
            cells = {
                (x, y)
                for x in range(place["x"], place["x"] + place["w"])
                for y in range(place["y"], place["y"] + place["h"])
            }
            assert not cells & taken, panel["title"]
            assert max(x for x, _ in cells) < 24
            taken |= cells


def test_every_alert_leads_to_a_section_of_the_runbook_and_none_is_left_over() -> None:
    section = RUNBOOK.read_text().partition("\n## Alerts\n")[2].partition("\n## ")[0]
    headings = re.findall(r"^### (.+)$", section, re.MULTILINE)
    anchors = {heading.lower().replace(" ", "-") for heading in headings}
    linked = {alert["annotations"]["runbook"] for alert in alerts()}
    assert linked == {f"docs/runbook.md#{alert['alert'].lower()}" for alert in alerts()}
    assert {link.partition("#")[2] for link in linked} == anchors


def test_every_alert_says_who_is_called() -> None:
    for alert in alerts():
        assert alert["labels"]["severity"] in {"page", "ticket"}, alert["alert"]
        assert alert["annotations"]["summary"], alert["alert"]


def test_a_ledger_that_does_not_balance_pages_at_once() -> None:
    (alert,) = [each for each in alerts() if "whist_ledger_imbalance" in each["expr"]]
    assert alert["labels"]["severity"] == "page"
    assert "for" not in alert


def test_rules_fire_when_they_should_and_not_before() -> None:
    """Prometheus's own rule tests, where its tool is installed."""
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool (Debian: prometheus) is not installed: rule tests were not run")
    done = subprocess.run(
        [promtool, "test", "rules", *map(str, sorted((OBSERVABILITY / "rules" / "tests").glob("*.yaml")))],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_collector_keeps_what_failed_or_broke_the_promise() -> None:
    config = yaml.safe_load((OBSERVABILITY / "otel-collector.yaml").read_text())
    pipeline = config["service"]["pipelines"]["traces"]
    assert pipeline["processors"][0] == "memory_limiter"
    for part in ("receivers", "processors", "exporters"):
        assert set(pipeline[part]) <= config[part].keys()
    policies = {each["type"]: each for each in config["processors"]["tail_sampling"]["policies"]}
    assert policies["status_code"]["status_code"]["status_codes"] == ["ERROR"]
    assert policies["latency"]["latency"]["threshold_ms"] == 250


def test_no_file_of_the_rules_is_outside_of_the_checks() -> None:
    assert {path.suffix for path in Path(OBSERVABILITY / "rules").iterdir() if path.is_file()} == {".yaml"}
