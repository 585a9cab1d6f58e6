"""What a row of the table of kinds can say. Pure data; `manifests.table` has the rows.

Paths start at the object, or at the role where a kind lists several.
"""

from collections.abc import Mapping
from enum import StrEnum

from argocd_fluid.manifests.document import Path
from argocd_fluid.records import dataclass, field


class OnChange(StrEnum):
    """What a change of the pod template of a live object does."""

    IMMUTABLE = "immutable"
    """The API refuses it: only another object runs it."""
    ROLLOUT = "rollout"
    """The kind's controller replaces the pods."""
    NEXT_RUN = "next run"
    """The API takes it; pods that exist stay as they are, later ones get it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """A field that multiplies the number of pods; 1 where it is absent."""

    path: Path
    less_one_with: Path = ()
    """One of them is made from another template where this field is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A place for one pod template, or for one per item of a list or mapping of roles."""

    template: Path
    role: str = ""
    """The role's name, where there is one template."""
    each: Path = ()
    """The list or mapping of roles; a mapping's keys are their names."""
    is_mapping: bool = False
    name: str = "name"
    unnamed: str = ""
    """What its controller calls an item without a name, before the item's index."""
    pods: tuple[Count, ...] = ()
    is_optional: bool = False
    resources: str = ""
    """No template here, only this field: the `resources` of the container `container`."""
    container: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A row."""

    group: str
    kind: str
    versions: tuple[str, ...]
    slots: tuple[Slot, ...]
    is_batch: bool = False
    """Pods end: the API refuses to restart their containers for a resize."""
    on_change: OnChange
    keeps_sizes: bool = False
    """The admission policy keep-template covers it: its live template keeps its sizes."""
    is_deleted_by_ttl: bool = False
    """`spec.ttlSecondsAfterFinished` deletes the object itself."""
    defaults: Mapping[Path, str] = field(default_factory=dict)
    """What a create-only webhook puts into the list of roles, per role."""
    mutable: tuple[Path, ...] | None = None
    """All of `spec` that may change on a live object; None: all but `immutable`."""
    immutable: tuple[Path, ...] = ()
    addable: tuple[Path, ...] = ()
    """Of the immutable ones those that may come or go as a whole."""
    template_while_suspended: Path | None = None
    """From `spec`: the pod template of which scheduling fields may change while suspended."""
    elsewhere: str = ""
    """Where the sizes are when the object has no pod template."""
