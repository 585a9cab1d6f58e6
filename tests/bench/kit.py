"""The parts of one bench, in the order in which they stand on each other, for use by hand."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from tests.bench import state
from tests.bench.argocd import ArgoCD
from tests.bench.build import Unavailable
from tests.bench.control_plane import ControlPlane
from tests.bench.jobset import JobSet
from tests.bench.kubelet import PORT
from tests.bench.kwok import Kwok
from tests.bench.node import Node
from tests.bench.processes import Supervisor
from tests.bench.rollouts import Rollouts

CONTROL_PLANE = "control-plane"
DEFAULT = (CONTROL_PLANE, "jobset", "node", "argocd")
# What an administrator applies, in this order: the policies name the kind that the CRD defines.
_FLUID = ("crds", "rbac", "policies")
_KWOK_NODE = "kwok-0"


class Part(Protocol):
    def start(self) -> None: ...

    def stop(self) -> None: ...


PARTS: dict[str, Callable[[ControlPlane], Part]] = {
    CONTROL_PLANE: lambda control_plane: control_plane,
    "jobset": JobSet,
    "node": lambda control_plane: Node(control_plane, "node-1", 1),
    "second-node": lambda control_plane: Node(control_plane, "node-2", 2),
    "kwok": Kwok,
    "argocd": ArgoCD,
    "rollouts": Rollouts,
}


class Kit:
    """One control plane and what was started on it."""

    def __init__(self, supervisor: Supervisor) -> None:
        self.control_plane = ControlPlane(state.folder(), supervisor)
        self.started: dict[str, Part] = {}
        self._stops = ExitStack()

    def start(self, name: str) -> None:
        part = PARTS[name](self.control_plane)
        part.start()
        self.started[name] = part
        self._stops.callback(part.stop)

    def stop(self) -> None:
        """Stop the parts, the youngest first; one that fails keeps none of the others."""
        self._stops.close()

    def addresses(self) -> Iterator[str]:
        """What there is to talk to."""
        for part in self.started.values():
            match part:
                case ControlPlane():
                    yield f"API server {part.url}"
                case Node():
                    yield f"kubelet of {part.name} https://{part.address}:{PORT}"
                case Kwok():
                    yield f"node without a machine {part.node(_KWOK_NODE).name}"
                case ArgoCD():
                    yield f"Argo CD, no log-in, {part.start_server()}, plugin {part.plugin_name}"

    def install_fluid(self) -> None:
        """Apply what `argocd-fluid config` prints."""
        for what in _FLUID:
            self.control_plane.kubectl(
                *("apply", "--server-side", "--force-conflicts", "-f", "-"), input=_config(what)
            )


def _config(what: str) -> str:
    program = Path(sys.executable).parent / "argocd-fluid"
    if not program.exists():
        raise Unavailable("argocd-fluid is not installed in this virtual environment")
    done = subprocess.run([program, "config", what], capture_output=True, text=True, check=False)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]
        raise Unavailable(f"`argocd-fluid config {what}` failed: {' '.join(last)}")
    return done.stdout
