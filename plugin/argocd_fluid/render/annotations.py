"""Annotations of ours in manifests: each key is known, each value one that somebody reads.

Whoever misspells one would believe in a pause or an opt-out that nobody sees. Pure.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final

from argocd_fluid import constants
from argocd_fluid.errors import ManifestError
from argocd_fluid.manifests.document import Document, Path, get

ANNOTATIONS: Final[Path] = ("metadata", "annotations")
_PREFIX: Final = f"{constants.GROUP}/"
_BOOLEANS: Final = ("true", "false")
_VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    constants.ENABLED: _BOOLEANS,
    constants.FLUID_RESTART: _BOOLEANS,
    constants.PAUSED: _BOOLEANS,
    constants.HEALTH_RUNNING: ("Progressing", "Healthy"),
}
"""Keys with a fixed set of values."""
_KEYS: Final = (
    *_VALUES,
    constants.POLICY,
    constants.INTENT,
    constants.PIN,
    constants.RESTART_REQUESTED,
    constants.REVERT_REQUESTED,
    constants.SHARD,
)


def check(document: Document) -> None:
    """Refuse an annotation of ours that says nothing; raises ManifestError."""
    annotations = get(document.value, ANNOTATIONS)
    if annotations is None:
        return
    if not isinstance(annotations, dict):
        raise ManifestError("is no mapping", where=document.where(ANNOTATIONS))
    for key, value in annotations.items():
        if key in _VALUES:
            _check_value(document, key, value)
        elif key.startswith(_PREFIX) and key not in _KEYS:
            near = get_close_matches(key, _KEYS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(_KEYS)}"
            where = document.where((*ANNOTATIONS, key))
            raise ManifestError("is no annotation that is known here", where=where, hint=hint)


def _check_value(document: Document, key: str, value: object) -> None:
    known = _VALUES[key]
    if value is None or value in known:
        return
    first, second = (f'"{each}"' for each in known)
    hint = "quote it: annotations are text" if known is _BOOLEANS else "write one of the two"
    where = document.where((*ANNOTATIONS, key))
    raise ManifestError(f"{value!r} is neither {first} nor {second}", where=where, hint=hint)
