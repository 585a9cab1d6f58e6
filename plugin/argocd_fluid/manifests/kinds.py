"""Where each kind keeps its pod templates, roles, pod counts and containers: one table.

Everything that reads or changes a workload asks here, so another kind is another row. Pure; a
manifest of the wrong shape is a ManifestError at its place.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from argocd_fluid.errors import ManifestError, Where
from argocd_fluid.manifests.document import Document, Manifest, Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A row: paths start at the object, or at the role where a kind has several."""

    group: str
    template: Path
    roles: Path = ()
    """The list of roles, each with a name; a kind without it has one role, named ""."""
    pods: tuple[Path, ...] = ()
    """The fields whose product is the number of pods; each counts 1 where it is absent."""
    pods_immutable: bool = False
    """A change of the pod template is refused once the object exists."""
    is_batch: bool = False
    """Pods end: the API refuses to restart their containers for a resize."""


KINDS: Final[Mapping[str, Kind]] = {
    "JobSet": Kind(
        group="jobset.x-k8s.io",
        roles=("spec", "replicatedJobs"),
        template=("template", "spec", "template"),
        pods=(("replicas",), ("template", "spec", "parallelism")),
        pods_immutable=True,
        is_batch=True,
    ),
    "Job": Kind(
        group="batch",
        template=("spec", "template"),
        pods=(("spec", "parallelism"),),
        pods_immutable=True,
        is_batch=True,
    ),
    "CronJob": Kind(
        group="batch",
        template=("spec", "jobTemplate", "spec", "template"),
        pods=(("spec", "jobTemplate", "spec", "parallelism"),),
        is_batch=True,
    ),
    "Deployment": Kind(group="apps", template=("spec", "template"), pods=(("spec", "replicas"),)),
    "StatefulSet": Kind(group="apps", template=("spec", "template"), pods=(("spec", "replicas"),)),
    "ReplicaSet": Kind(group="apps", template=("spec", "template"), pods=(("spec", "replicas"),)),
    "DaemonSet": Kind(group="apps", template=("spec", "template")),
    "Pod": Kind(group="", template=(), pods_immutable=True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A container of a pod template, with the path to it."""

    name: str
    value: Manifest
    path: Path


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


def kind_of(manifest: Manifest) -> Kind | None:
    """Give the row of a workload; None for any other object."""
    row = KINDS.get(str(manifest.get("kind")))
    group, slash, _ = str(manifest.get("apiVersion")).partition("/")
    return row if row is not None and row.group == (group if slash else "") else None


def roles(document: Document) -> tuple[Role, ...]:
    """Give the roles of a workload, in their order; none for any other object."""
    row = kind_of(document.value)
    if row is None:
        return ()
    if not row.roles:
        return (_role(document, row, ("", document.value, ())),)
    items = _child(document, document.value, (), row.roles, list)
    named = [_named(document, item, (*row.roles, index)) for index, item in enumerate(items)]
    _no_duplicates(document, [(name, path) for name, _, path in named])
    return tuple(_role(document, row, item) for item in named)


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


def _check_object(document: Document) -> None:
    if not isinstance(document.value, dict):
        where = Where(file=document.file, line=document.marks.line)
        raise ManifestError("is no Kubernetes object", where=where)
    for key in ("apiVersion", "kind"):
        if not isinstance(document.value.get(key), str) or not document.value[key]:
            raise ManifestError(f"is no Kubernetes object: it has no {key}", where=document.where())
    if not isinstance(document.value.get("metadata", {}), dict | None):
        raise ManifestError("is no mapping", where=document.where(("metadata",)))


def _role(document: Document, row: Kind, named: tuple[str, Manifest, Path]) -> Role:
    name, parent, path = named
    template = _child(document, parent, path, row.template, dict)
    template_path = (*path, *row.template)
    pods = 1
    for counted in row.pods:
        pods *= _count(document, parent, path, counted)
    found = _containers(document, template, template_path)
    return Role(
        name=name,
        template=template,
        path=template_path,
        pods=pods,
        containers=tuple(container for container in found if _lasts(container)),
        init_containers=tuple(container for container in found if not _lasts(container)),
    )


def _lasts(container: Container) -> bool:
    return container.path[-2] == "containers" or container.value.get("restartPolicy") == "Always"


def _containers(document: Document, template: Manifest, path: Path) -> list[Container]:
    found = []
    for field in ("initContainers", "containers"):
        place = (*path, "spec", field)
        items = _child(document, template, path, ("spec", field), list)
        for index, item in enumerate(items):
            name, value, own = _named(document, item, (*place, index))
            found.append(Container(name=name, value=value, path=own))
    _no_duplicates(document, [(container.name, container.path) for container in found])
    return found


def _named(document: Document, item: object, path: Path) -> tuple[str, Manifest, Path]:
    if not isinstance(item, dict):
        raise ManifestError("is no mapping", where=document.where(path))
    name = item.get("name")
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


def _count(document: Document, parent: Manifest, base: Path, path: Path) -> int:
    holder = _child(document, parent, base, path[:-1], dict)
    number = holder.get(path[-1])
    if number is None:
        return 1
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ManifestError("is no whole number", where=document.where((*base, *path)))
    return number
