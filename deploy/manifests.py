"""The rendered Kubernetes objects of one kustomization, as values that checks can ask."""

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
SERVICES = ("gateway", "auth", "matchmaking", "tables", "wallet", "leagues", "coach")
WORKLOADS = frozenset({"Deployment", "StatefulSet"})
NAME_LABEL = "app.kubernetes.io/name"

Manifest = dict[str, Any]


class DoesNotRender(Exception):
    """`kubectl kustomize` refused the folder; `str()` is what it said."""


def tool(name: str) -> str:
    """The program that came with this Python's packages, or the one on the path."""
    return shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name) or name


def kustomizations() -> list[Path]:
    """Every folder that can be rendered by itself: the base, each service's base, each overlay. Components cannot."""
    files = sorted(DEPLOY.rglob("kustomization.yaml"))
    return [file.parent for file in files if yaml.safe_load(file.read_text())["kind"] == "Kustomization"]


def overlays() -> list[Path]:
    """What is really deployed."""
    return sorted(file.parent for file in (DEPLOY / "overlays").glob("*/kustomization.yaml"))


@cache
def render(folder: Path) -> "Manifests":
    """Once a process; the objects are for reading only.

    Raises DoesNotRender. Needs no network and no cluster."""
    done = subprocess.run([tool("kubectl"), "kustomize", str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise DoesNotRender(f"{folder.relative_to(ROOT)}: {done.stderr.strip()}")
    return Manifests(tuple(document for document in yaml.safe_load_all(done.stdout) if document))


@dataclass(frozen=True, slots=True)
class Manifests:
    """Objects in the order in which they were rendered."""

    objects: tuple[Manifest, ...]

    def of(self, *kinds: str) -> Iterator[Manifest]:
        """All objects of these kinds."""
        return (each for each in self.objects if each["kind"] in kinds)

    def get(self, kind: str, name: str) -> Manifest:
        """Raises KeyError. A generated ConfigMap is found by its name without the hash."""
        for each in self.of(kind):
            found = each["metadata"]["name"]
            if found == name or (kind == "ConfigMap" and found.rpartition("-")[0] == name):
                return each
        raise KeyError(f"{kind} {name}")

    def has(self, kind: str, name: str) -> bool:
        return any(each["metadata"]["name"] == name for each in self.of(kind))

    def workload(self, name: str) -> Manifest:
        """The Deployment or StatefulSet of that name. Raises KeyError."""
        for each in self.of(*WORKLOADS):
            if each["metadata"]["name"] == name:
                return each
        raise KeyError(f"workload {name}")

    def environment(self, workload: Manifest) -> dict[str, str | Mapping[str, Any]]:
        """What the first container sees: a value, or the `valueFrom` that names a secret or a field."""
        container = pod_of(workload)["containers"][0]
        seen: dict[str, str | Mapping[str, Any]] = {}
        for source in container.get("envFrom", ()):
            seen.update(self.get("ConfigMap", source["configMapRef"]["name"].rpartition("-")[0])["data"])
        for variable in container.get("env", ()):
            seen[variable["name"]] = variable.get("value", variable.get("valueFrom"))
        return seen


def pod_of(workload: Manifest) -> Manifest:
    """The pod's spec inside a Deployment, StatefulSet or Job."""
    spec: Manifest = workload["spec"]["template"]["spec"]
    return spec


def pod_labels(workload: Manifest) -> dict[str, str]:
    labels: dict[str, str] = workload["spec"]["template"]["metadata"]["labels"]
    return labels


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a `matchLabels` selector takes a pod; an empty one takes all."""
    return all(labels.get(name) == value for name, value in selector.get("matchLabels", selector).items())
