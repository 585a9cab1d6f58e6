"""The controller as it runs in a cluster: its own account, its own RBAC, a process of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.controller.running import Controller

ROOT = Path(__file__).parents[2]
CRD = "fluidworkloads.argocd-fluid.io"


@pytest.fixture(scope="session")
def installed(control_plane, jobset):  # noqa: ARG001 - the controller watches JobSets
    """CRD and RBAC, as an administrator applies them; gives the account's kubeconfig."""
    api = control_plane.client()
    for name in ("crds.yaml", "rbac.yaml"):
        for item in yaml.safe_load_all((ROOT / "argocd" / name).read_text()):
            api.apply(item)
    api.wait_for(
        "the CRD is served",
        lambda: (
            api.find("apiextensions.k8s.io/v1", "CustomResourceDefinition", CRD)["status"]
            .get("acceptedNames", {})
            .get("kind")
        ),
    )
    api.close()
    return control_plane.token_kubeconfig("argocd-fluid", "argocd-fluid")


@pytest.fixture
def controller(control_plane, installed) -> Iterator[Controller]:
    """A running controller, which has seen everything that there is."""
    running = Controller(control_plane.supervisor, installed)
    running.start()
    yield running
    running.stop()
