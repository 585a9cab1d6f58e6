"""Nodes without machines: KWOK answers for them, resizes included (the Stages are in `kwok/`).

For scale and for what a real node seldom does: the annotation `bench/resize` on a pod lets the node
answer a resize with `deferred` or `infeasible`, `bench/exit` ends its containers with that code.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench import build
from tests.bench.control_plane import ControlPlane
from tests.bench.processes import free_port
from tests.bench.readiness import answers

RESIZE = "bench/resize"
EXIT = "bench/exit"

_STAGES = Path(__file__).parent / "kwok"
_TAINT = {"key": "kwok.x-k8s.io/node", "value": "fake", "effect": "NoSchedule"}
_TOLERATIONS = [{**_TAINT, "operator": "Equal"}]
_LABEL = {"type": "kwok"}
# A node without a machine has none of these, but they are required.
_UNKNOWN = (
    "bootID",
    "kernelVersion",
    "kubeProxyVersion",
    "machineID",
    "osImage",
    "systemUUID",
)


@dataclass(frozen=True, slots=True)
class KwokNode:
    """One node that only the API server knows."""

    name: str

    @property
    def placement(self) -> dict[str, Any]:
        """Fields of a pod spec that put the pod on this node; no other pod gets here."""
        selector = {**_LABEL, "kubernetes.io/hostname": self.name}
        return {"nodeSelector": selector, "tolerations": _TOLERATIONS}


class Kwok:
    """The kwok controller, and the nodes made with it."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self._control_plane = control_plane
        self._nodes: dict[str, dict[str, Any]] = {}

    @property
    def placement(self) -> dict[str, Any]:
        """Fields of a pod spec that put the pod on any of its nodes."""
        return {"nodeSelector": _LABEL, "tolerations": _TOLERATIONS}

    def start(self) -> None:
        binaries = build.ensure("kwok")
        port = free_port()
        self._control_plane.supervisor.start(
            "kwok",
            [
                str(binaries / "kwok"),
                f"--kubeconfig={self._control_plane.kubeconfig('kwok', 'system:masters')}",
                "--node-ip=127.0.0.1",
                f"--server-address=127.0.0.1:{port}",
                *(f"--config={file}" for file in sorted(_STAGES.glob("*.yaml"))),
            ],
            ready=lambda: answers(f"http://127.0.0.1:{port}/healthz"),
        )

    def stop(self) -> None:
        """Remove the nodes while somebody still removes their pods, then end the controller."""
        for node in self._nodes.values():
            self._control_plane.client().delete(node)
        self._nodes.clear()
        self._control_plane.supervisor.stop("kwok")

    def node(self, name: str, cpu: str = "8", memory: str = "32Gi", pods: int = 110) -> KwokNode:
        """Give a Ready node of that size; calling it again changes nothing."""
        if name not in self._nodes:
            self._nodes[name] = _node(name, {"cpu": cpu, "memory": memory, "pods": str(pods)})
            api = self._control_plane.client()
            api.create(self._nodes[name])
            api.wait_for(
                f"node {name} is ready and without a condition's taint",
                lambda: _is_open(api.get("v1", "Node", name)),
            )
        return KwokNode(name)


def _node(name: str, size: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {**_LABEL, "kubernetes.io/hostname": name},
        },
        "spec": {"taints": [_TAINT]},
        "status": {
            "capacity": size,
            "allocatable": size,
            "nodeInfo": {
                "architecture": "amd64",
                "operatingSystem": "linux",
                "kubeletVersion": build.KUBERNETES_VERSION,
                "containerRuntimeVersion": "kwok",
                **dict.fromkeys(_UNKNOWN, ""),
            },
        },
    }


def _is_open(node: dict[str, Any]) -> bool:
    conditions = {one["type"]: one["status"] for one in node["status"].get("conditions", [])}
    return conditions.get("Ready") == "True" and node["spec"].get("taints") == [_TAINT]
