"""`python deploy/verify.py`: everything about deploy/ and skaffold.yaml that can be known without a cluster.

Checks run in order of dependence; the first that finds something prints all it found and ends with status 1. The
policies on rendered objects (probes, selectors, settings, metrics) are tests: `pytest tests/deploy`.
"""

import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import jsonschema
import kubernetes_validate
import yaml

from deploy.manifests import DEPLOY, ROOT, SERVICES, WORKLOADS, DoesNotRender, Manifests, kustomizations, render, tool

DOCKERFILE = DEPLOY / "docker" / "Dockerfile"
SKAFFOLD = ROOT / "skaffold.yaml"
# Skaffold's own schema is not ours to copy; where it is not at hand that one check is skipped, and says so.
SKAFFOLD_SCHEMA = ROOT.parent / "shared" / "schemas" / "skaffold-v4beta13.json"


def yaml_problems() -> list[str]:
    """What yamllint says about every YAML file of deploy/ and about skaffold.yaml."""
    done = subprocess.run(
        [tool("yamllint"), "--strict", "--format", "parsable", "--config-file", str(ROOT / ".yamllint.yaml"),
         str(DEPLOY), str(SKAFFOLD)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return (done.stdout + done.stderr).splitlines()


def dockerfile_problems() -> list[str]:
    """What hadolint says."""
    done = subprocess.run(
        [tool("hadolint"), "--no-color", "--failure-threshold", "info", str(DOCKERFILE)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return (done.stdout + done.stderr).splitlines() if done.returncode else []


def render_problems() -> list[str]:
    """Folders that kustomize refuses."""
    problems = []
    for folder in kustomizations():
        try:
            render(folder)
        except DoesNotRender as error:
            problems.append(str(error))
    return problems


def schema_problems() -> list[str]:
    """Objects that the newest Kubernetes in the validator's wheel would refuse; an unknown kind is one too."""
    problems: list[str] = []
    for folder in kustomizations():
        problems += (f"{folder.relative_to(ROOT)}: {problem}" for problem in invalid_objects(render(folder)))
    return problems


def invalid_objects(manifests: Manifests) -> Iterable[str]:
    """Strict: an unknown field is a mistake, as with `kubectl apply --validate=strict`."""
    version = kubernetes_validate.latest_version()
    for each in manifests.objects:
        name = f"{each['kind']}/{each['metadata']['name']}"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                kubernetes_validate.validate(each, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            yield f"{name}: {'.'.join(str(part) for part in error.path)}: {error.message}"
        except kubernetes_validate.SchemaNotFoundError as error:
            yield f"{name}: {error.message}"


def skaffold_problems() -> list[str]:
    """skaffold.yaml against its schema, and every file and folder that it names."""
    document: dict[str, Any] = yaml.safe_load(SKAFFOLD.read_text())
    problems = []
    if SKAFFOLD_SCHEMA.exists():
        validator = jsonschema.Draft7Validator(json.loads(SKAFFOLD_SCHEMA.read_text()))
        problems += [f"skaffold.yaml: {error.json_path}: {error.message}" for error in validator.iter_errors(document)]
    else:
        sys.stderr.write(f"SKIPPED: skaffold.yaml against its schema: {SKAFFOLD_SCHEMA.name} is not here\n")
    for artifact in document["build"]["artifacts"]:
        context = ROOT / artifact["context"]
        if not (context / artifact["docker"]["dockerfile"]).is_file():
            problems.append(f"skaffold.yaml: {artifact['image']}: {artifact['docker']['dockerfile']} does not exist")
    for path in document["manifests"]["kustomize"]["paths"]:
        if not (ROOT / path / "kustomization.yaml").is_file():
            problems.append(f"skaffold.yaml: {path} is no kustomization")
    return problems


def name_problems() -> list[str]:
    """Folder = image = workload = Service = ServiceAccount = artifact."""
    problems = []
    document: dict[str, Any] = yaml.safe_load(SKAFFOLD.read_text())
    artifacts = {
        each["image"]: each["docker"].get("buildArgs", {}).get("SERVICE") for each in document["build"]["artifacts"]
    }
    if artifacts != (wanted := {f"whist/{name}": name for name in SERVICES}):
        problems.append(f"skaffold.yaml: artifacts are {artifacts}, not {wanted}")
    for place in (DEPLOY / "base", ROOT / "services"):
        found = {path.name for path in place.iterdir() if path.is_dir() and not path.name.startswith(("_", "."))}
        if place.name == "services":
            found.discard("allinone")
        if found != set(SERVICES):
            problems.append(f"{place.relative_to(ROOT)}: folders are {sorted(found)}, not {sorted(SERVICES)}")
    for name in SERVICES:
        problems += (f"base/{name}: {problem}" for problem in misnamed(render(DEPLOY / "base" / name), name))
    return problems


def misnamed(manifests: Manifests, name: str) -> Iterable[str]:
    """Objects of one service's base that are called otherwise than the service."""
    for each in manifests.objects:
        kind, found = each["kind"], each["metadata"]["name"]
        if found != (f"{name}-migrate" if kind == "Job" else name):
            yield f"{kind} is called {found}"
        if kind in WORKLOADS or kind == "Job":
            for container in each["spec"]["template"]["spec"]["containers"]:
                if container["image"] != f"whist/{name}":
                    yield f"{kind} {found} runs {container['image']}"


CHECKS: tuple[tuple[str, Callable[[], list[str]]], ...] = (
    ("YAML", yaml_problems),
    ("Dockerfile", dockerfile_problems),
    ("kustomize", render_problems),
    ("Kubernetes schemas", schema_problems),
    ("skaffold.yaml", skaffold_problems),
    ("names", name_problems),
)


def main() -> None:
    for title, check in CHECKS:
        if problems := check():
            sys.exit("\n".join([f"{title}:", *(f"  {problem}" for problem in problems)]))
        print(f"ok  {title}")


if __name__ == "__main__":
    main()
