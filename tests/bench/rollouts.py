"""The real Argo Rollouts controller, outside the cluster: canaries and AnalysisRuns."""

from tests.bench import build, crds
from tests.bench.control_plane import ControlPlane
from tests.bench.processes import free_port
from tests.bench.readiness import answers

NAMESPACE = "argo-rollouts"


class Rollouts:
    """It watches every namespace; its own one holds its settings."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self._control_plane = control_plane

    def start(self) -> None:
        binaries = build.ensure("rollouts")
        api = self._control_plane.client()
        crds.install(api, sorted(build.crds("rollouts").glob("*-crd.yaml")))
        api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        health, metrics = free_port(), free_port()
        self._control_plane.supervisor.start(
            "rollouts",
            [
                str(binaries / "rollouts-controller"),
                f"--kubeconfig={self._control_plane.kubeconfig('rollouts', 'system:masters')}",
                f"--namespace={NAMESPACE}",
                "--leader-elect=false",
                f"--healthzPort={health}",
                f"--metricsPort={metrics}",
            ],
            ready=lambda: answers(f"http://127.0.0.1:{health}/healthz"),
        )

    def stop(self) -> None:
        self._control_plane.supervisor.stop("rollouts")
