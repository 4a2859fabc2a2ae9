"""What is deployed, rendered once a process."""

import importlib
from pathlib import Path
from typing import Any

import pytest

from deploy.manifests import Manifests, overlays, render
from libs.chassis.service import Spec


@pytest.fixture(scope="session", params=overlays(), ids=lambda folder: folder.name)
def rendered(request: pytest.FixtureRequest) -> Manifests:
    """Every overlay in turn."""
    folder: Path = request.param
    return render(folder)


def spec_of(name: str) -> Spec[Any]:
    """The value that the service's process is started with."""
    spec: Spec[Any] = importlib.import_module(f"services.{name}.wiring").SPEC
    return spec
