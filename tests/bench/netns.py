"""The network of one real node: a namespace, a veth pair, the routes between it and the host.

A kubelet refuses a loopback address, and two of them can't share the ports of one network, so each
node gets 10.88.<index>.2 in a namespace of its own; the host's end is 10.88.<index>.1. Pods get
addresses of 10.89.<index>.0/24 on a bridge inside, which the host reaches through the node.
"""

import contextlib
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

PREFIX = "fluid-bench-"


@dataclass(frozen=True, slots=True)
class NodeNetwork:
    """Names and addresses of the node's network; `create` and `remove` are idempotent."""

    index: int

    @property
    def name(self) -> str:
        return f"{PREFIX}{self.index}"

    @property
    def path(self) -> Path:
        return Path("/run/netns") / self.name

    @property
    def host_address(self) -> str:
        return f"10.88.{self.index}.1"

    @property
    def node_address(self) -> str:
        return f"10.88.{self.index}.2"

    @property
    def pod_subnet(self) -> str:
        return f"10.89.{self.index}.0/24"

    def create(self, *, api_service: str) -> None:
        """`api_service` is the address at which pods look for the API server.

        No proxy makes it reachable here, so the node itself has it.
        """
        self.remove()
        host_end = f"fluid{self.index}"
        _ip(
            f"netns add {self.name}",
            f"link add {host_end} type veth peer name eth0 netns {self.name}",
            f"addr add {self.host_address}/30 dev {host_end}",
            f"link set {host_end} up",
        )
        _ip(
            "link set lo up",
            f"addr add {api_service}/32 dev lo",
            f"addr add {self.node_address}/30 dev eth0",
            "link set eth0 up",
            f"route add default via {self.host_address}",
            namespace=self.name,
        )
        _ip(f"route add {self.pod_subnet} via {self.node_address}")
        # The setting belongs to the network namespace of the process that writes it.
        self.run("sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")

    def remove(self) -> None:
        """Removing the namespace removes its end of the veth pair, and with it the routes.

        That happens a moment later where a process still holds the namespace; the host's end is
        therefore removed by name first.
        """
        if Path(f"/sys/class/net/fluid{self.index}").exists():
            _ip(f"link del fluid{self.index}")
        if self.path.exists():
            _ip(f"netns del {self.name}")

    def end_processes(self, *, timeout_s: float = 10) -> None:
        """Kill whatever runs inside: kubelet, containerd, the containers' shims."""
        deadline = time.monotonic() + timeout_s
        while (pids := self.pids()) and time.monotonic() < deadline:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)

    def pids(self) -> set[int]:
        """Processes inside the namespace; pods have namespaces of their own."""
        if not self.path.exists():
            return set()
        own = self.path.stat()
        found = set()
        for process in Path("/proc").glob("[0-9]*"):
            # A process that ended meanwhile, and a zombie, has no namespace.
            with contextlib.suppress(OSError):
                namespace = (process / "ns/net").stat()
                if (namespace.st_dev, namespace.st_ino) == (own.st_dev, own.st_ino):
                    found.add(int(process.name))
        return found

    def run(self, *argv: str) -> str:
        """Run a command inside; `ip netns exec` would remount /sys and hide the cgroup mounts."""
        return subprocess.run(
            [*self.enter(), *argv], check=True, capture_output=True, text=True
        ).stdout

    def enter(self) -> list[str]:
        return ["nsenter", f"--net={self.path}"]


def _ip(*commands: str, namespace: str | None = None) -> None:
    argv = ["ip", *(["-n", namespace] if namespace else []), "-batch", "-"]
    done = subprocess.run(
        argv, input="\n".join(commands), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)}: {done.stderr.strip()}; commands: {commands}")
