"""The controller as it runs in a cluster: its own account, its own RBAC, a process of its own."""

from collections.abc import Iterator

import pytest

from tests.bench import fluid
from tests.controller.running import Controller


@pytest.fixture(scope="session")
def installed(control_plane, jobset):  # noqa: ARG001 - the controller watches JobSets
    """CRD and RBAC, as an administrator applies them; gives the account's kubeconfig."""
    fluid.install(control_plane, "crds", "rbac")
    return control_plane.token_kubeconfig("argocd-fluid", "argocd-fluid")


@pytest.fixture
def controller(control_plane, installed) -> Iterator[Controller]:
    """A running controller, which has seen everything that there is."""
    running = Controller(control_plane.supervisor, installed)
    running.start()
    yield running
    running.stop()
