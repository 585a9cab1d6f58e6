"""One object of a file, with the lines of its fields for whoever has to complain about one."""

from collections.abc import Mapping, Sequence
from typing import Any

from argocd_fluid.errors import Where
from argocd_fluid.records import dataclass, field

Manifest = dict[str, Any]
Path = tuple[str | int, ...]


@dataclass(slots=True)
class Marks:
    """Line of a value and of what is inside it: the shape of the value, without the values."""

    line: int
    inside: "dict[str, Marks] | list[Marks] | None" = None

    def at(self, path: Path) -> "Marks":
        """Give the marks of a field, or of its nearest parent that has any."""
        found = self
        for step in path:
            inside = found.inside
            if isinstance(inside, dict) and step in inside:
                found = inside[str(step)]
            elif isinstance(inside, list) and isinstance(step, int) and step < len(inside):
                found = inside[step]
            else:
                break
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """An object as Kubernetes reads it. Shared parts (aliases) are one value: never change it."""

    value: Manifest
    file: str
    marks: Marks = field(repr=False, compare=False)
    derived: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What was found out about it already: several steps of a rendering ask the same."""

    @property
    def identity(self) -> str:
        """Name the object for people: `JobSet research/llama`."""
        return identity(self.value)

    def where(self, path: Path = ()) -> Where:
        """Give the place of a field."""
        return Where(
            file=self.file,
            line=self.marks.at(path).line,
            document=self.identity,
            field=dotted(path),
        )


def identity(manifest: Mapping[str, Any]) -> str:
    """Name an object for people, as far as it has names."""
    metadata = manifest.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    generated = metadata.get("generateName")
    name = metadata.get("name") or (f"{generated}*" if generated else "")
    place = "/".join(str(part) for part in (metadata.get("namespace"), name) if part)
    return " ".join(str(part) for part in (manifest.get("kind"), place) if part)


def dotted(path: Sequence[str | int]) -> str:
    """Write a path as people do: `spec.replicatedJobs[0].name`; odd keys in brackets."""
    text = ""
    for step in path:
        if isinstance(step, int) or "." in step or "/" in step:
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def get(value: Any, path: Path) -> Any:
    """Give what is at a path, None where any part of it is missing."""
    for step in path:
        # Abstract classes come last: to ask one takes ten times as long.
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list):
            value = value[step] if isinstance(step, int) and step < len(value) else None
        elif isinstance(value, Mapping):
            value = value.get(step)
        else:
            return None
    return value


def with_value(value: Any, path: Path, new: Any) -> Any:
    """Give a copy that has `new` at a path; only what lies on the path is copied."""
    if not path:
        return new
    whole = part = _copied(value)
    for step in path[:-1]:
        inside = part[step] if isinstance(step, int) else part.get(step)
        part[step] = part = _copied(inside)
    part[path[-1]] = new
    return whole


def _copied(value: Any) -> Any:
    return {} if value is None else value.copy()
