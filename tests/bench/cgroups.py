"""The cgroup below which one real node keeps its pods, in every hierarchy of the machine.

A kubelet wants its `cgroupRoot` to exist in each cgroup v1 controller beforehand. Because nothing
else ever lives below it, it also names every process of the node's containers: a later run ends the
leftovers of a killed one by it, and never anything else.

cgroup v1 is what the bench was run on. The unified hierarchy (v2) is supported by the kernel's
documented files; `parse_hierarchies` and the readers are tested on recorded trees only.
"""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.bench.build import Unavailable

PREFIX = "fluid-bench-"

_V2_CONTROLLERS = ("cpu", "cpuset", "memory", "pids", "io")
_QOS_FOLDERS = ("", "burstable", "besteffort")
# v1 writes "no limit" as the largest page-aligned int64.
_NO_MEMORY_LIMIT_BYTES = 1 << 62
_UNLIMITED = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Hierarchies:
    """Mount points of the machine's cgroup hierarchies, by controller for v1."""

    by_controller: dict[str, Path]
    unified: Path | None

    @property
    def version(self) -> int:
        """2 only where cpu and memory belong to the unified hierarchy."""
        return 1 if "cpu" in self.by_controller else 2

    def roots(self) -> list[Path]:
        """Every mount point in which a node's root has to exist beforehand."""
        if self.version == 1:
            return sorted(set(self.by_controller.values()))
        return [self.unified] if self.unified else []

    def mounts(self) -> list[Path]:
        """All mount points: beside v1 the runtime also uses a unified one without controllers."""
        return sorted({*self.by_controller.values(), *([self.unified] if self.unified else [])})


def parse_hierarchies(mounts: str) -> Hierarchies:
    """Read the text of /proc/self/mounts."""
    by_controller: dict[str, Path] = {}
    unified = None
    for line in mounts.splitlines():
        _, target, kind, options, *_ = line.split()
        if kind == "cgroup2":
            unified = unified or Path(target)
        if kind == "cgroup":
            # "name=systemd" is no controller, but the kubelet wants its root there as well.
            names = set(options.split(",")) - {"rw", "ro", "relatime"}
            by_controller.update(dict.fromkeys(names, Path(target)))
    return Hierarchies(by_controller=by_controller, unified=unified)


def machine_hierarchies() -> Hierarchies:
    return parse_hierarchies(Path("/proc/self/mounts").read_text())


class CgroupRoot:
    """`/fluid-bench-<index>` in every hierarchy."""

    def __init__(self, name: str, hierarchies: Hierarchies) -> None:
        if not name.startswith(PREFIX):
            raise ValueError(f"{name} is not a cgroup of the bench")
        self.name = name
        self._hierarchies = hierarchies

    def create(self) -> None:
        for mount in self._hierarchies.roots():
            folder = mount / self.name
            if self._hierarchies.version == 2:
                _delegate(mount)
            folder.mkdir(exist_ok=True)
            # A v1 cpuset starts empty, and a process can't enter it then.
            for file in ("cpuset.cpus", "cpuset.mems"):
                if (folder / file).exists() and self._hierarchies.version == 1:
                    (folder / file).write_text((mount / file).read_text())
            if self._hierarchies.version == 2:
                _delegate(folder)

    def remove(self, *, timeout_s: float = 10) -> None:
        """End every process below the root, then remove the folders; without them: nothing."""
        deadline = time.monotonic() + timeout_s
        while (pids := self.pids()) and time.monotonic() < deadline:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        for folder in self._folders(bottom_up=True):
            _rmdir(folder, deadline)

    def pids(self) -> set[int]:
        """Processes in any hierarchy; 0 stands for one that this pid namespace can't see."""
        found: set[int] = set()
        for folder in self._folders(bottom_up=False):
            # A folder may vanish meanwhile, and a threaded v2 cgroup can't be read.
            with contextlib.suppress(OSError):
                found.update(int(pid) for pid in (folder / "cgroup.procs").read_text().split())
        return found - {0}

    def container(self, pod_uid: str, container_id: str) -> dict[str, int]:
        """Limits of one container as the kernel has them; -1 is "no limit".

        Keys: cpu_quota_us, cpu_period_us, memory_limit_bytes, and cpu_shares (cgroup v1) or
        cpu_weight (v2: the runtime's conversion from shares is not one to one).
        """
        return self._read(pod_uid, container_id.removeprefix("containerd://"))

    def _read(self, pod_uid: str, child: str) -> dict[str, int]:
        if self._hierarchies.version == 1:
            controllers = self._hierarchies.by_controller
            return read_v1(
                cpu=self._pod_folder(controllers["cpu"], pod_uid) / child,
                memory=self._pod_folder(controllers["memory"], pod_uid) / child,
            )
        (mount,) = self._hierarchies.roots()
        return read_v2(self._pod_folder(mount, pod_uid) / child)

    def _pod_folder(self, mount: Path, pod_uid: str) -> Path:
        for qos in _QOS_FOLDERS:
            folder = mount / self.name / "kubepods" / qos / f"pod{pod_uid}"
            if folder.is_dir():
                return folder
        raise FileNotFoundError(f"no cgroup of pod {pod_uid} below {mount / self.name}")

    def _folders(self, *, bottom_up: bool) -> Iterator[Path]:
        for mount in self._hierarchies.mounts():
            for folder, _, _ in os.walk(mount / self.name, topdown=not bottom_up):
                yield Path(folder)


def read_v1(*, cpu: Path, memory: Path) -> dict[str, int]:
    limit = int((memory / "memory.limit_in_bytes").read_text())
    return {
        "cpu_quota_us": int((cpu / "cpu.cfs_quota_us").read_text()),
        "cpu_period_us": int((cpu / "cpu.cfs_period_us").read_text()),
        "cpu_shares": int((cpu / "cpu.shares").read_text()),
        "memory_limit_bytes": _UNLIMITED if limit >= _NO_MEMORY_LIMIT_BYTES else limit,
    }


def read_v2(folder: Path) -> dict[str, int]:
    quota, period = (folder / "cpu.max").read_text().split()
    limit = (folder / "memory.max").read_text().strip()
    return {
        "cpu_quota_us": _UNLIMITED if quota == "max" else int(quota),
        "cpu_period_us": int(period),
        "cpu_weight": int((folder / "cpu.weight").read_text()),
        "memory_limit_bytes": _UNLIMITED if limit == "max" else int(limit),
    }


def _delegate(folder: Path) -> None:
    """Let children of a v2 cgroup have the controllers that the kubelet asks for."""
    available = set((folder / "cgroup.controllers").read_text().split())
    wanted = [f"+{name}" for name in _V2_CONTROLLERS if name in available]
    try:
        (folder / "cgroup.subtree_control").write_text(" ".join(wanted))
    except OSError as refused:
        # The root of a container's cgroup namespace holds processes and can't delegate (EBUSY).
        raise Unavailable(f"{folder} can't give controllers to a child: {refused}") from refused


def _rmdir(folder: Path, deadline: float) -> None:
    """A killed process leaves its cgroup a moment after it left cgroup.procs (EBUSY till then)."""
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return
