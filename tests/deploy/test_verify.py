"""The verification finds what it is there to find."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy import verify
from deploy.manifests import DEPLOY, Manifests, render

PDB: dict[str, Any] = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "wallet"},
    "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"a": "b"}}},
}


def test_what_is_in_the_tree_is_valid() -> None:
    assert list(verify.invalid_objects(render(DEPLOY / "overlays" / "local"))) == []
    assert list(verify.invalid_objects(Manifests((PDB,)))) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"spec": PDB["spec"] | {"maxUnavailble": 1}}, "maxUnavailble"),
        ({"spec": PDB["spec"] | {"selector": []}}, "spec.selector"),
        ({"kind": "PodDisruptionBudgets"}, "Couldn't find schema"),
    ],
)
def test_a_mistyped_field_a_wrong_type_and_an_unknown_kind_are_found(change: dict[str, Any], said: str) -> None:
    (problem,) = verify.invalid_objects(Manifests((PDB | change,)))
    assert said in problem


def test_an_object_of_another_name_and_an_image_of_another_service_are_found() -> None:
    manifests = render(DEPLOY / "base" / "wallet")
    assert list(verify.misnamed(manifests, "wallet")) == []
    problems = list(verify.misnamed(manifests, "leagues"))
    assert "Service is called wallet" in problems
    assert "Deployment wallet runs whist/wallet" in problems


def written(folder: Path, change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed copy of skaffold.yaml takes its place."""
    document = yaml.safe_load(verify.SKAFFOLD.read_text())
    change(document)
    copy = folder / "skaffold.yaml"
    copy.write_text(yaml.safe_dump(document))
    monkeypatch.setattr(verify, "SKAFFOLD", copy)


def test_a_lost_artifact_and_a_wrong_argument_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert verify.name_problems() == []
    written(tmp_path, lambda document: document["build"]["artifacts"].pop(), monkeypatch)
    (problem,) = verify.name_problems()
    assert problem.startswith("skaffold.yaml: artifacts are")


def test_a_dockerfile_and_an_overlay_that_are_not_there_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert verify.skaffold_problems() == []

    def change(document: dict[str, Any]) -> None:
        document["build"]["artifacts"][0]["docker"]["dockerfile"] = "Dockerfile"
        document["manifests"]["kustomize"]["paths"] = ["deploy/overlays/moon"]

    written(tmp_path, change, monkeypatch)
    assert verify.skaffold_problems() == [
        "skaffold.yaml: whist/gateway: Dockerfile does not exist",
        "skaffold.yaml: deploy/overlays/moon is no kustomization",
    ]


def test_an_unknown_field_of_skaffold_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not verify.SKAFFOLD_SCHEMA.exists():
        pytest.skip("Skaffold's schema is not here: skaffold.yaml was not checked against it")
    written(tmp_path, lambda document: document["build"].update(artefacts=[]), monkeypatch)
    assert any("artefacts" in problem for problem in verify.skaffold_problems())


def test_a_missing_schema_of_skaffold_is_said_aloud(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verify, "SKAFFOLD_SCHEMA", tmp_path / "none.json")
    assert verify.skaffold_problems() == []
    assert capsys.readouterr().err.startswith("SKIPPED")


def test_a_dockerfile_that_runs_as_root_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert verify.dockerfile_problems() == []
    copy = tmp_path / "Dockerfile"
    copy.write_text("FROM python:3.11-slim\nUSER root\n")
    monkeypatch.setattr(verify, "DOCKERFILE", copy)
    assert any("DL3002" in problem for problem in verify.dockerfile_problems())


def test_the_first_class_of_problems_ends_the_run_with_status_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def not_reached() -> list[str]:
        raise AssertionError

    checks = (("good", list), ("bad", lambda: ["one", "two"]), ("later", not_reached))
    monkeypatch.setattr(verify, "CHECKS", checks)
    with pytest.raises(SystemExit) as ended:
        verify.main()
    assert ended.value.code == "bad:\n  one\n  two"  # a text as code means status 1
    assert capsys.readouterr().out == "ok  good\n"


def test_the_image_takes_in_everything_the_wheel_is_made_of() -> None:
    """What pyproject.toml and hatch_build.py read while the wheel is built is copied, and not ignored."""
    dockerfile = verify.DOCKERFILE.read_text()
    ignored = (DEPLOY / "docker" / "Dockerfile.dockerignore").read_text().splitlines()
    needed = ["pyproject.toml", "constraints.txt", "hatch_build.py", "README.md", "LICENSE", "config/platform.toml",
              "protos", "libs", "services"]  # fmt: skip
    for path in needed:
        assert f"!{path}" in ignored
        assert path in dockerfile
    assert ignored[1] == "*"
