"""Which fields of a live workload the API refuses to change, per kind. Pure.

JobSet: its ValidateUpdate and the CEL rules of its CRD. Builtins: their strategies' ValidateUpdate.
"""

from collections.abc import Mapping
from typing import Any, Final

from argocd_fluid.manifests.document import get
from argocd_fluid.render.difference import Difference

MUTABLE: Final[Mapping[str, frozenset[str]]] = {
    "JobSet": frozenset({"suspend", "ttlSecondsAfterFinished", "coordinator"}),
    "Job": frozenset(
        {"activeDeadlineSeconds", "backoffLimit", "parallelism", "suspend"}
        | {"ttlSecondsAfterFinished"}
    ),
    "Pod": frozenset({"activeDeadlineSeconds", "terminationGracePeriodSeconds"}),
    "StatefulSet": frozenset(
        {"minReadySeconds", "ordinals", "persistentVolumeClaimRetentionPolicy", "replicas"}
        | {"revisionHistoryLimit", "template", "updateStrategy"}
    ),
}
"""Fields of `spec` that may change, for the kinds that refuse all others."""

IMMUTABLE: Final[Mapping[str, frozenset[str]]] = {
    "Deployment": frozenset({"selector"}),
    "DaemonSet": frozenset({"selector"}),
    "ReplicaSet": frozenset({"selector"}),
}
"""Fields of `spec` that may not change, for the kinds that allow all others."""

JOBSET_ADDABLE: Final = frozenset({"failurePolicy", "volumeClaimPolicies"})
"""Compared with their old value only, so one that comes or goes as a whole passes."""

SUSPENDED_MUTABLE: Final = (
    ("template", "metadata", "annotations"),
    ("template", "metadata", "labels"),
    ("template", "spec", "nodeSelector"),
    ("template", "spec", "schedulingGates"),
    ("template", "spec", "tolerations"),
)
"""Of a pod template of a JobSet or Job that is suspended before or after the change."""


def is_refused(difference: Difference, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether the API refuses this change of a live object."""
    kind, keys = str(after.get("kind")), difference.keys
    if len(keys) < 2 or keys[0] != "spec":  # noqa: PLR2004 - spec and a field of it
        return False
    if kind not in MUTABLE:
        return keys[1] in IMMUTABLE.get(kind, ())
    if keys[1] in MUTABLE[kind]:
        return False
    if kind == "Pod":
        return keys[1:] not in (("containers", "image"), ("initContainers", "image"))
    if kind == "JobSet" and keys[1] in JOBSET_ADDABLE:
        return None not in (get(before, keys[:2]), get(after, keys[:2]))
    return not (_is_suspended(before, after) and _may_change_suspended(kind, keys))


def _is_suspended(*manifests: Mapping[str, Any]) -> bool:
    return any(get(manifest, ("spec", "suspend")) is True for manifest in manifests)


def _may_change_suspended(kind: str, keys: tuple[str, ...]) -> bool:
    base = {"JobSet": ("spec", "replicatedJobs", "template", "spec"), "Job": ("spec",)}.get(kind)
    if base is None or keys[: len(base)] != base:
        return False
    inside = keys[len(base) :]
    return any(inside[: len(path)] == path for path in SUSPENDED_MUTABLE)
