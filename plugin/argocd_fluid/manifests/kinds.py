"""Reads the pod templates, roles, pod counts and containers of an object by the table of kinds.

Everything that reads or changes a workload asks here, so another kind is another row of
`manifests.table`. Pure; a manifest of the wrong shape is a ManifestError at its place.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from argocd_fluid.errors import ManifestError, Where
from argocd_fluid.manifests.document import Document, Manifest, Path, get
from argocd_fluid.manifests.layout import Count, Kind, Slot
from argocd_fluid.manifests.table import KINDS
from argocd_fluid.records import dataclass

__all__ = ["NAMES", "Container", "Kind", "Role", "flattened", "kind_of", "known_versions", "roles"]

_ROWS: Final = {(row.group, row.kind): row for row in KINDS}
NAMES: Final = tuple(dict.fromkeys(row.kind for row in KINDS))
"""The kinds that can be enrolled, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A container of a pod template, with the path to it."""

    name: str
    value: Manifest
    path: Path
    resources: Path
    """The path to its `resources`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """One pod template of a workload. `path` leads to it; `pods` is how many come from it."""

    name: str
    template: Manifest
    path: Path
    pods: int
    containers: tuple[Container, ...]
    """Those that run as long as their pod: regular ones and native sidecars."""
    init_containers: tuple[Container, ...]
    """Those that end before: nobody resizes them."""
    is_whole: bool = True
    """False where most of the pod is in another object, of which nothing is known here."""

    @property
    def resources(self) -> Path:
        """The path to the `resources` that all containers of a pod share."""
        return (*self.path, "spec", "resources")


def kind_of(manifest: Manifest) -> Kind | None:
    """Give the row of a workload; None for any other object, and for unknown versions."""
    group, slash, version = str(manifest.get("apiVersion")).partition("/")
    row = _ROWS.get((group if slash else "", str(manifest.get("kind"))))
    if row is None or (version if slash else group) not in row.versions:
        return None
    return row


def known_versions(manifest: Manifest) -> tuple[str, ...]:
    """Give the versions of a kind that are known; none where the kind is not."""
    group, slash, _ = str(manifest.get("apiVersion")).partition("/")
    row = _ROWS.get((group if slash else "", str(manifest.get("kind"))))
    return row.versions if row is not None else ()


def roles(document: Document) -> tuple[Role, ...]:
    """Give the roles of a workload, in their order; none for any other object."""
    known: tuple[Role, ...] | None = document.derived.get("roles")
    if known is None:
        known = document.derived["roles"] = _roles(document)
    return known


def _roles(document: Document) -> tuple[Role, ...]:
    row = kind_of(document.value)
    if row is None:
        return ()
    found = [item for slot in row.slots for item in _of_slot(document, slot)]
    _no_duplicates(document, [(item.name, item.path) for item in found])
    return tuple(_role(document, item) for item in found)


def flattened(documents: Iterable[Document]) -> Iterator[Document]:
    """Give every object on its own: the items of a List instead of the List, as Argo CD does."""
    for document in documents:
        _check_object(document)
        items = document.value.get("items")
        if not document.value["kind"].endswith("List") or not isinstance(items, list):
            yield document
            continue
        for index, item in enumerate(items):
            marks = document.marks.at(("items", index))
            yield from flattened([Document(value=item, file=document.file, marks=marks)])


_SKIP: Final = "a file of something else: begin it with the comment # +argocd:skip-file-rendering"


def _check_object(document: Document) -> None:
    if not isinstance(document.value, dict):
        where = Where(file=document.file, line=document.marks.line)
        raise ManifestError("is no Kubernetes object", where=where)
    for key in ("apiVersion", "kind"):
        if not isinstance(document.value.get(key), str) or not document.value[key]:
            problem = f"is no Kubernetes object: it has no {key}"
            raise ManifestError(problem, where=document.where(), hint=_SKIP)
    if not isinstance(document.value.get("metadata", {}), dict | None):
        raise ManifestError("is no mapping", where=document.where(("metadata",)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A role that is still to be read: `value` is at `path`, and the slot's paths start there."""

    slot: Slot
    name: str
    value: Manifest
    path: Path


def _of_slot(document: Document, slot: Slot) -> Iterator[_Place]:
    if slot.each:
        items = _child(document, document.value, (), slot.each, dict if slot.is_mapping else list)
        for key, item in items.items() if slot.is_mapping else enumerate(items):
            name, value, path = _named(document, item, (*slot.each, key), slot=slot)
            yield _Place(slot=slot, name=name, value=value, path=path)
    elif not slot.is_optional or get(document.value, slot.template) is not None:
        yield _Place(slot=slot, name=slot.role, value=document.value, path=())


def _role(document: Document, place: _Place) -> Role:
    slot = place.slot
    template = _child(document, place.value, place.path, slot.template, dict)
    template_path = (*place.path, *slot.template)
    pods = 1
    for counted in slot.pods:
        pods *= _count(document, place.value, place.path, counted)
    if slot.resources:
        found = _sized(document, slot, template)
    else:
        found = _containers(document, template, template_path)
    return Role(
        name=place.name,
        template={} if slot.resources else template,
        path=template_path,
        pods=pods,
        containers=tuple(each for each in found if slot.resources or _lasts(each)),
        init_containers=tuple(each for each in found if not (slot.resources or _lasts(each))),
        is_whole=not slot.resources,
    )


def _sized(document: Document, slot: Slot, parent: Manifest) -> list[Container]:
    """Give the container of which only the `resources` are here."""
    path = (*slot.template, slot.resources)
    resources = _child(document, parent, slot.template, (slot.resources,), dict)
    value = {"name": slot.container, "resources": resources}
    return [Container(name=slot.container, value=value, path=slot.template, resources=path)]


def _lasts(container: Container) -> bool:
    return container.path[-2] == "containers" or container.value.get("restartPolicy") == "Always"


def _containers(document: Document, template: Manifest, path: Path) -> list[Container]:
    found = []
    for field in ("initContainers", "containers"):
        place = (*path, "spec", field)
        items = _child(document, template, path, ("spec", field), list)
        for index, item in enumerate(items):
            name, value, own = _named(document, item, (*place, index))
            resources = (*own, "resources")
            found.append(Container(name=name, value=value, path=own, resources=resources))
    _no_duplicates(document, [(container.name, container.path) for container in found])
    return found


def _named(
    document: Document, item: object, path: Path, *, slot: Slot | None = None
) -> tuple[str, Manifest, Path]:
    if not isinstance(item, dict):
        raise ManifestError("is no mapping", where=document.where(path))
    if slot is not None and slot.is_mapping:
        return str(path[-1]), item, path
    name = item.get(slot.name if slot else "name")
    if name is None and slot is not None and slot.unnamed:
        name = f"{slot.unnamed}{path[-1]}"
    if not isinstance(name, str) or not name:
        raise ManifestError("has no name", where=document.where(path))
    return name, item, path


def _no_duplicates(document: Document, names: list[tuple[str, Path]]) -> None:
    seen = set()
    for name, path in names:
        if name in seen:
            raise ManifestError(
                f"the name {name!r} is taken", where=document.where((*path, "name"))
            )
        seen.add(name)


def _child(document: Document, parent: Manifest, base: Path, path: Path, of: type) -> Any:
    """Follow a path of mappings to one of type `of`; what is absent or null is an empty one."""
    value: Any = parent
    for depth, key in enumerate(path):
        value = value.get(key)
        expected = of if depth == len(path) - 1 else dict
        if value is None:
            return of()
        if not isinstance(value, expected):
            what = "list" if expected is list else "mapping"
            where = document.where((*base, *path[: depth + 1]))
            raise ManifestError(f"is no {what}", where=where)
    return value


def _count(document: Document, parent: Manifest, base: Path, counted: Count) -> int:
    path = counted.path
    holder = _child(document, parent, base, path[:-1], dict)
    number = holder.get(path[-1])
    if number is None:
        number = 1
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ManifestError("is no whole number", where=document.where((*base, *path)))
    if counted.less_one_with and get(parent, counted.less_one_with) is not None:
        return max(number - 1, 0)
    return number
