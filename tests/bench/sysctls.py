"""Kernel settings that a kubelet changes on the whole machine, saved and put back.

The list is upstream's `setupKernelTunables` (pkg/kubelet/cm/container_manager_linux.go, 1.37). The
saved values lie in a file: the run after one that was killed puts them back.
"""

import json
from pathlib import Path

NAMES = (
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
)


class SavedSysctls:
    """Values of `NAMES` in a file; the file exists exactly while they may be changed."""

    def __init__(self, file: Path, *, base: Path = Path("/proc/sys")) -> None:
        self._file = file
        self._base = base

    def save(self) -> None:
        """Keep the first values: with two nodes the second one sees what the first one changed."""
        if self._file.exists():
            return
        values = {name: (self._base / name).read_text().strip() for name in NAMES}
        # A file that is half written at a crash would be taken for the saved values.
        unfinished = self._file.with_suffix(".new")
        unfinished.write_text(json.dumps(values))
        unfinished.rename(self._file)

    def restore(self) -> None:
        if not self._file.exists():
            return
        for name, value in json.loads(self._file.read_text()).items():
            if (self._base / name).read_text().strip() != value:
                (self._base / name).write_text(value)
        self._file.unlink()
