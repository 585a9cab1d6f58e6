"""What a real node leaves on the machine, made and removed in one place.

Processes are found by what only the bench's nodes have (their network namespace, their cgroup
root), never by a program's name. `remove` therefore works the same after an orderly stop, after a
SIGKILL of the test run, and where nothing was left.
"""

import contextlib
import fcntl
import shutil
from pathlib import Path
from typing import TextIO

from tests.bench.build import Unavailable
from tests.bench.cgroups import CgroupRoot, machine_hierarchies
from tests.bench.mountns import MountNamespace
from tests.bench.netns import NodeNetwork
from tests.bench.sysctls import SavedSysctls


class NodeTraces:
    """Folder, network, mount namespace, cgroups and kernel settings of the node `index`."""

    def __init__(self, state: Path, index: int) -> None:
        self._nodes = state / "nodes"
        self.folder = self._nodes / str(index)
        self.network = NodeNetwork(index)
        self.mounts = MountNamespace(self.folder / "ns")
        self.cgroups = CgroupRoot(f"fluid-bench-{index}", machine_hierarchies())
        self._sysctls = SavedSysctls(self._nodes / "sysctls.json")
        self._claim: TextIO | None = None

    def claim(self) -> None:
        """Keep another run with another state folder from removing this node as a leftover."""
        file = Path(f"/run/lock/{self.network.name}.lock")
        file.parent.mkdir(exist_ok=True)
        claim = file.open("w")
        try:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            claim.close()
            raise Unavailable(f"node {self.folder.name} is in use by another run") from None
        self._claim = claim

    def release(self) -> None:
        if self._claim:
            Path(self._claim.name).unlink(missing_ok=True)
            self._claim.close()
            self._claim = None

    def create(self, *, api_service: str) -> None:
        self.folder.mkdir(parents=True)
        self._sysctls.save()
        self.network.create(api_service=api_service)
        self.mounts.create()
        self.cgroups.create()

    def remove(self) -> None:
        """End the kubelet first: it would start ended containers again."""
        self.network.end_processes()
        self.cgroups.remove()
        self.network.remove()
        self.mounts.remove()
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self.folder)
        if not any(folder.is_dir() for folder in self._nodes.glob("*")):
            self._sysctls.restore()


def cleanup(state: Path) -> None:
    """Remove what nodes of an earlier run left; called before `state` is deleted."""
    for folder in (state / "nodes").glob("[0-9]*"):
        traces = NodeTraces(state, int(folder.name))
        traces.claim()
        traces.remove()
        traces.release()
    SavedSysctls(state / "nodes" / "sysctls.json").restore()
