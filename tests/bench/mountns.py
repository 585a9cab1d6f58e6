"""A mount namespace that one real node's container runtime and kubelet share.

What they mount (root file systems, service account tokens, volumes) is seen only there and is gone
with the last process, so deleting the node's folder can never reach into a volume of the host.
Some of their paths can't be configured (/run/containerd, /var/lib/kubelet/device-plugins,
/var/log/containers): what they write below these folders stays inside as well.
"""

import subprocess
from pathlib import Path

from tests.bench.build import Unavailable

_KEPT_APART = ("/run", "/var/lib", "/var/log")


class MountNamespace:
    """The namespace is kept by a file `folder/mnt`, so that restarted processes find it again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "mnt"

    def create(self) -> None:
        if any(self._folder.is_relative_to(path) for path in _KEPT_APART):
            raise Unavailable(f"{self._folder} lies in one of {_KEPT_APART}: set TMPDIR elsewhere")
        upper = self._folder / "upper"
        upper.mkdir(parents=True)
        # The kernel binds a mount namespace only below a mount that is not shared.
        _run("mount", "--bind", str(self._folder), str(self._folder))
        _run("mount", "--make-private", str(self._folder))
        self._file.touch()
        script = [f"mount -t tmpfs fluid-bench {upper}"]
        script += [_overlay(path, upper / path.replace("/", "")) for path in _KEPT_APART]
        isolated = ["unshare", f"--mount={self._file}", "--propagation", "private"]
        _run(*isolated, "sh", "-ec", "\n".join(script))

    def remove(self) -> None:
        """Let go of the namespace; without one: nothing."""
        mounted = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
        for path in (str(self._file), str(self._folder)):
            for _ in range(mounted.count(path)):
                _run("umount", path)

    def enter(self) -> list[str]:
        """Arguments of nsenter."""
        return [f"--mount={self._file}"]


def _overlay(path: str, private: Path) -> str:
    options = f"lowerdir={path},upperdir={private}/upper,workdir={private}/work"
    return (
        f"mkdir -p {private}/upper {private}/work\nmount -t overlay -o {options} fluid-bench {path}"
    )


def _run(*argv: str) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)}: {done.stderr.strip()}")
