"""A mount namespace that one real node's container runtime and kubelet share.

What they mount (root file systems, service account tokens, volumes) is seen only there and is gone
with the last process, so deleting the node's folder can never reach into a volume of the host.
Some of their paths can't be configured (/run/containerd, /var/lib/kubelet/device-plugins,
/var/log/containers): empty file systems hide the machine's own ones.
"""

import subprocess
from pathlib import Path

_PRIVATE_FOLDERS = ("/run", "/var/lib", "/var/log")


class MountNamespace:
    """The namespace is kept by a file `folder/mnt`, so that restarted processes find it again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "mnt"

    def create(self) -> None:
        self._folder.mkdir(parents=True)
        # The kernel binds a mount namespace only below a mount that is not shared.
        self._mount("--bind", str(self._folder), str(self._folder))
        self._mount("--make-private", str(self._folder))
        self._file.touch()
        script = " && ".join(f"mount -t tmpfs fluid-bench {path}" for path in _PRIVATE_FOLDERS)
        subprocess.run(
            ["unshare", f"--mount={self._file}", "--propagation", "private", "sh", "-c", script],
            check=True,
            capture_output=True,
        )

    def remove(self) -> None:
        """Let go of the namespace; without one: nothing."""
        mounted = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
        for path in (str(self._file), str(self._folder)):
            for _ in range(mounted.count(path)):
                subprocess.run(["umount", path], check=True, capture_output=True)

    def enter(self) -> list[str]:
        return [f"--mount={self._file}"]

    @staticmethod
    def _mount(*arguments: str) -> None:
        subprocess.run(["mount", *arguments], check=True, capture_output=True)
