"""One whole installation on real components: what an administrator sets up, once."""

import pytest

from tests.bench import fluid
from tests.controller.running import Controller
from tests.e2e.training import Training

NAMESPACE = "e2e-training"


@pytest.fixture(scope="session")
def installation(control_plane, jobset, argocd):  # noqa: ARG001 - JobSet's kinds must exist
    """Everything that `argocd-fluid config` prints for the cluster, applied with kubectl."""
    fluid.install(control_plane)
    return control_plane.token_kubeconfig("argocd-fluid", "argocd-fluid")


@pytest.fixture(scope="module")
def controller(control_plane, installation):
    """The controller with its own account, at its default interval."""
    running = Controller(control_plane.supervisor, installation, "--interval=5s")
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def training(control_plane, node, argocd, controller):  # noqa: ARG001 - it runs all the while
    """A training run that Argo CD has deployed."""
    api = control_plane.client()
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    api.apply(namespace)
    run = Training(
        argocd=argocd, control_plane=control_plane, node=node, api=api, namespace=NAMESPACE
    )
    run.application.wait(sync="Synced", health="Healthy", timeout_s=90)
    run.wait_until_running()
    yield run
    run.application.delete()
    api.delete(namespace)
