"""The parts of one bench, in the order in which they stand on each other, for use by hand."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Protocol

from tests.bench import state
from tests.bench.argocd import ArgoCD
from tests.bench.control_plane import ControlPlane
from tests.bench.jobset import JobSet
from tests.bench.kubelet import PORT
from tests.bench.kwok import Kwok
from tests.bench.node import Node
from tests.bench.processes import Supervisor
from tests.bench.rollouts import Rollouts

CONTROL_PLANE = "control-plane"
DEFAULT = (CONTROL_PLANE, "jobset", "node", "argocd")
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
