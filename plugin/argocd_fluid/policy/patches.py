"""The escape hatch of `fluid.yaml`: JSON patches (RFC 6902) for what a policy cannot say.

Here they are read and matched; `render.patching` applies them, before anything is enrolled.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from argocd_fluid.errors import Where
from argocd_fluid.records import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchMatch:
    """Globs; one that is not given matches everything. No namespace is an empty one."""

    kind: str = "*"
    name: str = "*"
    namespace: str = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation as it stands in the file, with its place."""

    value: Mapping[str, Any]
    where: Where


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """Operations for every object that matches, one after the other."""

    match: PatchMatch = field(default_factory=PatchMatch)
    operations: tuple[Operation, ...] = ()
    where: Where = field(default_factory=Where, compare=False)

    def is_for(self, manifest: Mapping[str, Any]) -> bool:
        """Whether an object is to be patched."""
        metadata = manifest.get("metadata")
        metadata = metadata if isinstance(metadata, Mapping) else {}
        name = metadata.get("name") or metadata.get("generateName") or ""
        return (
            fnmatchcase(str(manifest.get("kind")), self.match.kind)
            and fnmatchcase(str(name), self.match.name)
            and fnmatchcase(str(metadata.get("namespace") or ""), self.match.namespace)
        )
