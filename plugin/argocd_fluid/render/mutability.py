"""Which fields of a live workload the API refuses to change, by the table of kinds. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from argocd_fluid.manifests.document import Path, get
from argocd_fluid.manifests.kinds import kind_of
from argocd_fluid.render.difference import Difference

SCHEDULING: Final = (
    ("metadata", "annotations"),
    ("metadata", "labels"),
    ("spec", "nodeSelector"),
    ("spec", "schedulingGates"),
    ("spec", "tolerations"),
)
"""Of a pod template of a workload that is suspended before or after the change."""


def is_refused(difference: Difference, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether the API refuses this change of a live object."""
    row, keys = kind_of(dict(after)), difference.keys[1:]
    if row is None or not keys or difference.keys[0] != "spec":
        return False
    if row.mutable is None:
        return _starts_with(keys, row.immutable)
    if _starts_with(keys, row.mutable):
        return False
    if _starts_with(keys, row.addable):
        field = difference.keys[:2]
        return None not in (get(before, field), get(after, field))
    suspended = row.template_while_suspended
    if suspended is None or not _is_suspended(before, after):
        return True
    return not _starts_with(keys, [(*suspended, *path) for path in SCHEDULING])


def _starts_with(keys: tuple[str, ...], paths: tuple[Path, ...] | list[Path]) -> bool:
    return any(keys[: len(path)] == path for path in paths)


def _is_suspended(*manifests: Mapping[str, Any]) -> bool:
    return any(get(manifest, ("spec", "suspend")) is True for manifest in manifests)
