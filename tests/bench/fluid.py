"""argocd-fluid's own objects in the bench's cluster, as an administrator gets them there."""

import subprocess
import sys
from pathlib import Path

from tests.bench.api import Api, ApiFailure
from tests.bench.build import Unavailable
from tests.bench.control_plane import ControlPlane

# The virtual environment's programs, with `argocd-fluid` as it is installed for people.
PROGRAMS = Path(sys.executable).parent
# In this order: the policies name the kind that the CRD defines.
PARTS = ("crds", "rbac", "policies")
# Others may have applied the same objects under another name.
_APPLY = ("apply", "--server-side", "--force-conflicts", "-f", "-")
_FLUID_WORKLOADS = "/apis/argocd-fluid.io/v1alpha1/fluidworkloads"


def config(*arguments: str) -> str:
    """Give what our installed `argocd-fluid config` prints."""
    program = PROGRAMS / "argocd-fluid"
    if not program.exists():
        raise Unavailable("argocd-fluid is not installed in this virtual environment")
    done = subprocess.run(
        [program, "config", *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]
        raise Unavailable(f"`argocd-fluid config {' '.join(arguments)}` failed: {' '.join(last)}")
    return done.stdout


def install(control_plane: ControlPlane, *parts: str) -> None:
    """Apply parts of it with kubectl; return when FluidWorkloads are served."""
    for part in parts or PARTS:
        control_plane.kubectl(*_APPLY, input=config(part))
    api = control_plane.client()
    api.wait_for("FluidWorkloads are served", lambda: _is_served(api))


def _is_served(api: Api) -> bool:
    try:
        return bool(api.request("GET", _FLUID_WORKLOADS))
    except ApiFailure:
        return False
