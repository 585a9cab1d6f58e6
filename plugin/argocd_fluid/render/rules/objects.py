"""Checks that look at an object as a whole: its metadata, its jobs, its kind."""

from collections.abc import Iterator
from typing import Final

from argocd_fluid.constants import ENABLED, FLUID_RESTART
from argocd_fluid.manifests.document import Path, get
from argocd_fluid.render.rules.workload import Problem, Workload

SYNC_OPTIONS: Final[Path] = ("metadata", "annotations", "argocd.argoproj.io/sync-options")
HOOK: Final[Path] = ("metadata", "annotations", "argocd.argoproj.io/hook")


def ttl_after_finished(workload: Workload) -> Iterator[Problem]:
    """Find what Argo CD creates again once it deleted itself; hooks are meant to go."""
    path = ("spec", "ttlSecondsAfterFinished")
    if workload.row is None or not workload.row.is_deleted_by_ttl:
        return
    if get(workload.value, path) is not None and get(workload.value, HOOK) is None:
        yield path, "Argo CD runs it once more when the finished one is deleted"


def replaced_by_sync(workload: Workload) -> Iterator[Problem]:
    """Find sync options that replace a live workload, without the defaults that it got once."""
    if workload.row is None or not workload.row.defaults:
        return
    given = get(workload.value, SYNC_OPTIONS)
    options = {option.strip() for option in given.split(",")} if isinstance(given, str) else set()
    for option in sorted(options & {"Replace=true", "Force=true"}):
        yield SYNC_OPTIONS, f"{option} on a {workload.kind}"


def no_retry(workload: Workload) -> Iterator[Problem]:
    """Find jobs that fail with their first failed container."""
    if workload.row is None or not workload.row.is_batch:
        return
    for role in workload.roles():
        path = (*role.path[:-1], "backoffLimit")
        limit = get(workload.value, path)
        if limit == 0 and not isinstance(limit, bool):
            yield path, "the first failed container fails the whole job"


def generated_name(workload: Workload) -> Iterator[Problem]:
    """Find names that differ in every sync; hooks are created anew each time."""
    path = ("metadata", "generateName")
    named = get(workload.value, ("metadata", "name"))
    if get(workload.value, path) and not named and get(workload.value, HOOK) is None:
        yield path, "Argo CD cannot find the object again"


def restart_not_available(workload: Workload) -> Iterator[Problem]:
    """Find the opt-in for more than this version does."""
    path = ("metadata", "annotations", FLUID_RESTART)
    if workload.is_enrolled and get(workload.value, path) == "true":
        yield path, "this version resizes live and restarts nothing in place"


def not_resized_live(workload: Workload) -> Iterator[Problem]:
    """Find enrolled kinds that the controller leaves alone."""
    if workload.is_enrolled and workload.row is not None and not workload.row.keeps_sizes:
        path: Path = ("metadata", "annotations", ENABLED)
        yield path, f"the running pods of a {workload.kind} are not resized in this version"
