"""A real node: kubelet and containerd in a network and a mount namespace of their own.

Needs root, runc and iproute2; without them `start` raises `Unavailable`. A run that was killed is
cleaned up by the next start of that node, or by `cleanup` (see traces.py).
"""

import contextlib
import os
import shutil
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.bench import build, images
from tests.bench.api import Api, Object
from tests.bench.build import Unavailable
from tests.bench.cgroups import machine_hierarchies
from tests.bench.containerd import Containerd, find_runtime
from tests.bench.control_plane import ControlPlane
from tests.bench.kubelet import LABEL, PORT, TAINT, Kubelet
from tests.bench.traces import NodeTraces, cleanup

__all__ = ["Node", "cleanup"]

_REPOSITORY = Path(__file__).parents[2]
_CAP_NET_ADMIN, _CAP_SYS_ADMIN = 12, 21


class Node:
    """One real node; `index` (1 to 254) chooses its addresses and its names on the machine."""

    def __init__(
        self,
        control_plane: ControlPlane,
        name: str,
        index: int,
        *,
        kube_reserved: Mapping[str, str] | None = None,
    ) -> None:
        """`kube_reserved` makes the node smaller than the machine: allocatable = capacity - it."""
        self.name = name
        self._control_plane = control_plane
        self._supervisor = control_plane.supervisor
        self._api = control_plane.client()
        self._kube_reserved = dict(kube_reserved or {})
        self._traces = NodeTraces(control_plane.folder, index)
        self._network = self._traces.network
        self._containerd = Containerd(self._traces.folder)
        self._kubelet = Kubelet(
            self._traces.folder, name, self._network.node_address, control_plane.authority
        )

    @property
    def address(self) -> str:
        """The kubelet's address, which answers on port 10250."""
        return self._network.node_address

    @property
    def api_server(self) -> str:
        """The API server's URL as this node and its pods reach it."""
        return f"https://{self._network.host_address}:{self._control_plane.port}"

    @property
    def placement(self) -> dict[str, Any]:
        """Fields of a pod spec that put the pod on this node; no other pod gets here."""
        return {
            "nodeSelector": {LABEL: "true", "kubernetes.io/hostname": self.name},
            "tolerations": [{**TAINT, "operator": "Equal"}],
        }

    def start(self) -> None:
        """Return when the API server shows the node Ready and without a condition's taint."""
        _require_machine()
        runtime = find_runtime()
        load = build.ensure("kubernetes", "node", "load") / "load"
        self._traces.claim()
        try:
            self._traces.remove()
            self._start(runtime, load)
        except BaseException:
            # Whoever could not start it has nothing to stop.
            self.stop()
            raise

    def stop(self) -> None:
        """Remove the node from the API server and every trace of it from the machine."""
        for process in ("kubelet", "containerd", "api-service", "forwarder"):
            self._supervisor.stop(f"{self.name}-{process}")
        self._traces.remove()
        self._traces.release()
        # An API server that is gone has no node to delete.
        with contextlib.suppress(OSError):
            self._api.delete({"apiVersion": "v1", "kind": "Node", "metadata": {"name": self.name}})

    def reserve(self, kube_reserved: Mapping[str, str]) -> None:
        """Give the node another size: allocatable = capacity - `kube_reserved`.

        Restarts the kubelet; running containers stay.
        """
        self.stop_kubelet()
        self._kubelet.write_config(
            runtime_socket=self._containerd.socket,
            cgroup_root=self._traces.cgroups.name,
            kube_reserved=kube_reserved,
        )
        self.start_kubelet()

    def start_kubelet(self) -> None:
        """Return when this kubelet, not an earlier one, has reported the node Ready."""
        before = self._heartbeat()
        self._run(
            "kubelet",
            self._kubelet.argv(),
            ready=lambda: self._heartbeat() not in ("", before) and self.is_ready(),
        )

    def stop_kubelet(self) -> None:
        self._supervisor.stop(f"{self.name}-kubelet")

    def start_containerd(self) -> None:
        self._run("containerd", self._containerd.argv(), ready=self._containerd.is_ready)

    def stop_containerd(self) -> None:
        """Containers go on without it; their shims report when it is back."""
        self._supervisor.stop(f"{self.name}-containerd")

    def is_ready(self) -> bool:
        """Whether the API server shows the node Ready and no condition's taint is left."""
        node = self._object()
        taints = {taint["key"] for taint in node.get("spec", {}).get("taints", [])}
        return self._ready_condition(node).get("status") == "True" and taints == {TAINT["key"]}

    def cgroup(self, pod_uid: str, container_id: str) -> dict[str, int]:
        """A container's limits as the kernel has them, read on the host (see CgroupRoot)."""
        return self._traces.cgroups.container(pod_uid, container_id)

    def kubelet_api(self, *, token: str = "") -> Api:
        """A client of the kubelet's own API: as administrator, or with a service account token."""
        authority = self._control_plane.authority
        certificate = (
            None
            if token
            else authority.issue("kubelet-reader", organization="system:masters", client=True)
        )
        url = f"https://{self.address}:{PORT}"
        return Api(url, authority.ca_file, certificate=certificate, token=token)

    def _heartbeat(self) -> str:
        return str(self._ready_condition(self._object()).get("lastHeartbeatTime", ""))

    def _object(self) -> Object:
        return self._api.find("v1", "Node", self.name) or {}

    @staticmethod
    def _ready_condition(node: Object) -> Object:
        conditions = node.get("status", {}).get("conditions", [])
        return next((each for each in conditions if each["type"] == "Ready"), {})

    def _start(self, runtime: str, load: Path) -> None:
        service = self._api.get("v1", "Service", "kubernetes", "default")["spec"]["clusterIP"]
        self._traces.create(api_service=service)
        self._start_forwarders(f"{service}:443")
        self._containerd.write_config(runtime=runtime, pod_subnet=self._network.pod_subnet)
        self.start_containerd()
        self._containerd.import_images(images.write_node_images(load, self._traces.folder))
        self._kubelet.write_kubeconfig(self.api_server)
        self.reserve(self._kube_reserved)

    def _start_forwarders(self, service: str) -> None:
        """One on the host for the kubelet, one in the node's network for its pods."""
        port = self._control_plane.port
        link = f"{self._network.host_address}:{port}"
        program = [sys.executable, "-m", "tests.bench.forwarder"]
        self._supervisor.start(
            f"{self.name}-forwarder",
            [*program, link, f"127.0.0.1:{port}"],
            cwd=_REPOSITORY,
            ready=lambda: _accepts(self._network.host_address, port),
        )
        self._supervisor.start(
            f"{self.name}-api-service",
            [*self._network.enter(), "--", *program, service, link],
            cwd=_REPOSITORY,
            ready=lambda: True,
        )

    def _run(self, process: str, argv: list[str], *, ready: Callable[[], bool]) -> None:
        enter = [*self._network.enter(), *self._traces.mounts.enter(), "--"]
        self._supervisor.start(f"{self.name}-{process}", [*enter, *argv], ready=ready)


def _require_machine() -> None:
    if not _may_administer():
        raise Unavailable("a real node needs root with CAP_SYS_ADMIN and CAP_NET_ADMIN")
    for mount in machine_hierarchies().roots():
        if not os.access(mount, os.W_OK):
            raise Unavailable(f"a real node needs a writable {mount}")
    for program, package in (("ip", "iproute2"), ("nsenter", "util-linux")):
        if not shutil.which(program):
            raise Unavailable(f"no {program} on this machine: apt-get install {package}")


def _may_administer() -> bool:
    """Root inside an ordinary container has neither capability."""
    status = Path("/proc/self/status").read_text()
    effective = int(status.partition("CapEff:")[2].split()[0], 16)
    return all(effective >> capability & 1 for capability in (_CAP_NET_ADMIN, _CAP_SYS_ADMIN))


def _accepts(host: str, port: int) -> bool:
    with socket.create_connection((host, port), timeout=1):
        return True
