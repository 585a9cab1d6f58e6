"""Read what people write: `fluid.yaml` and the policy annotation, with an error for every slip.

An unknown key, a wrong type or values that contradict each other are a PolicyError with file,
line and field, before anything is rendered: a typo must not become a default.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

from argocd_fluid.constants import API_VERSION, FLUID_POLICY, POLICY
from argocd_fluid.errors import ManifestError, PolicyError, Where
from argocd_fluid.manifests.document import Document, Marks, Path, dotted, get
from argocd_fluid.manifests.reader import read_value
from argocd_fluid.policy import values
from argocd_fluid.policy.duration import parse_duration
from argocd_fluid.policy.match import NO_POLICY, Match, Policy, Rule
from argocd_fluid.policy.merge import check
from argocd_fluid.policy.patches import Operation, Patch, PatchMatch
from argocd_fluid.policy.settings import ResourceSettings, Settings
from argocd_fluid.records import dataclass, replace

Keys = Mapping[str, tuple[str, Callable[[Any], Any]]]
"""A key as people write it: the attribute it sets, and how its value is read."""


_HEAD: Final[Keys] = {
    "apiVersion": ("api_version", values.text),
    "kind": ("kind", values.text),
    "metadata": ("metadata", values.anything),
    "spec": ("spec", values.anything),
}
_FILE: Final[Keys] = {"values": ("values", values.mapping)}
"""Keys of `spec` that only `fluid.yaml` has; `jsonPatches` is the other one."""
_PATCHED: Final[Keys] = {key: (key, values.glob) for key in ("kind", "name", "namespace")}
_PATCH: Final[Keys] = {
    "match": ("match", values.anything),
    "patch": ("patch", values.anything),
}
_OPERATION: Final[Keys] = {
    "op": ("op", values.operation),
    "path": ("path", values.pointer),
    "from": ("from", values.pointer),
    "value": ("value", values.anything),
}
_MATCH: Final[Keys] = {
    "kind": ("kind", values.workload_kind),
    **{key: (key, values.glob) for key in ("name", "role", "container")},
}
_RESOURCE: Final[Keys] = {
    "scaleUpAt": ("scale_up_at", values.share),
    "target": ("target", values.share),
    "scaleDownAt": ("scale_down_at", values.share),
    "limits": ("limits", values.limits),
}
_RESOURCES: Final[Mapping[str, Keys]] = {
    "cpu": {"min": ("min", values.cpu), "max": ("max", values.cpu), **_RESOURCE},
    "memory": {
        "min": ("min", values.memory),
        "max": ("max", values.memory),
        **_RESOURCE,
        "oomFactor": ("oom_factor", values.factor),
    },
}
_SECTIONS: Final[Mapping[str, Keys]] = {
    **_RESOURCES,
    "scaleUp": {
        "cooldown": ("scale_up_cooldown_s", parse_duration),
        "maxFactor": ("scale_up_max_factor", values.factor),
    },
    "scaleDown": {
        "after": ("scale_down_after_s", parse_duration),
        "memory": ("scale_down_memory", values.flag),
    },
}
_BODY: Final[Keys] = {"mode": ("mode", values.mode), "priority": ("priority", values.priority)}


def read_policy(document: Document) -> Policy:
    """Read the FluidPolicy of a `fluid.yaml`."""
    whole = _Part(value=document.value, path=(), place=document.where)
    head = _section(whole, _HEAD)
    if (head.get("api_version"), head.get("kind")) != (API_VERSION, FLUID_POLICY):
        found = f"{head.get('kind', 'no kind')} of {head.get('api_version', 'no apiVersion')}"
        problem = f"is no {FLUID_POLICY} of {API_VERSION}, it is {found}"
        whole.fail(problem, f"begin it with apiVersion: {API_VERSION} and kind: {FLUID_POLICY}")
    if "spec" not in whole.value:
        return NO_POLICY
    spec = whole.at("spec")
    said = _section(spec, _FILE, others=(*_BODY, *_SECTIONS, "restart", "rules", "jsonPatches"))
    patches = tuple(_patch(each) for each in _list(spec, "jsonPatches"))
    body = _body(spec, extra=("jsonPatches", *_FILE))
    return replace(body, values=said.get("values", {}), patches=patches)


def read_annotation(document: Document) -> Policy:
    """Read the policy that an object has in its annotation: a body like `spec` of `fluid.yaml`."""
    path = ("metadata", "annotations", POLICY)
    text = get(document.value, path)
    if text is None:
        return NO_POLICY
    if not isinstance(text, str):
        raise PolicyError("is no text", where=document.where(path), hint=_BLOCK)
    try:
        value, marks = read_value(text, document.file, document.marks.at(path).line)
    except ManifestError as error:
        where = replace(document.where(path), line=error.where.line)
        raise PolicyError(error.problem, where=where) from None
    return _body(_Part(value=value, path=(), place=_within(document, path, marks)))


def read_parameter(text: str, name: str) -> Settings:
    """Read the settings that an Application has in a parameter: a body without rules."""

    def place(path: Path) -> Where:
        return Where(field=f"parameter {name}" + (f": {dotted(path)}" if path else ""))

    try:
        value, _ = read_value(text, "")
    except ManifestError as error:
        problem = f"line {error.where.line}: {error.problem}"
        raise PolicyError(problem, where=place(())) from None
    if value is None:
        return Settings()
    return _settings(_Part(value=value, path=(), place=place), extra=())


_BLOCK: Final = "write the policy as a block of YAML, after `|`"


def _within(document: Document, base: Path, marks: Marks) -> Callable[[Path], Where]:
    def place(path: Path) -> Where:
        field = dotted(base) + (f": {dotted(path)}" if path else "")
        return replace(document.where(base), line=marks.at(path).line, field=field)

    return place


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A value with its place."""

    value: Any
    path: Path
    place: Callable[[Path], Where]

    def at(self, step: str | int) -> "_Part":
        return _Part(value=self.value[step], path=(*self.path, step), place=self.place)

    def fail(self, problem: str, hint: str = "") -> NoReturn:
        raise PolicyError(problem, where=self.place(self.path), hint=hint)


def _body(part: _Part, *, extra: tuple[str, ...] = ()) -> Policy:
    _mapping(part)
    return Policy(
        settings=_settings(part, extra=("rules", *extra)),
        rules=tuple(_rule(each) for each in _list(part, "rules")),
    )


def _rule(part: _Part) -> Rule:
    _mapping(part)
    match = _section(part.at("match"), _MATCH) if "match" in part.value else {}
    settings = _settings(part, extra=("match",))
    where = part.place((*part.path, "match") if match else part.path)
    return Rule(match=Match(**match), settings=settings, names_kind="kind" in match, where=where)


def _patch(part: _Part) -> Patch:
    said = _section(part, _PATCH)
    for key in _PATCH:
        if key not in said:
            part.fail(f"has no {key}")
    match = _section(part.at("match"), _PATCHED)
    if not match:
        part.at("match").fail("matches nothing by name", "give kind, name or namespace")
    operations = tuple(_operation(each) for each in _list(part, "patch"))
    where = part.place((*part.path, "match"))
    return Patch(match=PatchMatch(**match), operations=operations, where=where)


def _operation(part: _Part) -> Operation:
    said = _section(part, _OPERATION)
    needed = ["op", "path", *_NEEDS.get(said.get("op", ""), ())]
    for key in needed:
        if key not in said:
            part.fail(f"has no {key}")
    value = {key: part.value[key] for key in _OPERATION if key in part.value}
    return Operation(value=value, where=part.place(part.path))


_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "add": ("value",),
    "replace": ("value",),
    "test": ("value",),
    "move": ("from",),
    "copy": ("from",),
}
"""What RFC 6902 wants of an operation beside `op` and `path`."""


def _settings(part: _Part, *, extra: tuple[str, ...]) -> Settings:
    """Read a body; `extra` keys are the caller's."""
    said = _section(part, _BODY, others=(*_SECTIONS, *extra, "restart"))
    if "restart" in part.value:
        part.at("restart").fail(
            "in-place restart is not available in this version", "remove the key"
        )
    for key, keys in _SECTIONS.items():
        if key in part.value:
            section = _section(part.at(key), keys)
            said.update({key: _resource(part.at(key), section)} if key in _RESOURCES else section)
    return Settings(**said)


def _resource(part: _Part, said: dict[str, Any]) -> ResourceSettings:
    settings = ResourceSettings(**said)
    try:
        check(settings, str(part.path[-1]))
    except PolicyError as error:
        part.at(error.where.field).fail(error.problem)
    return settings


def _section(part: _Part, keys: Keys, *, others: tuple[str, ...] = ()) -> dict[str, Any]:
    """Read a mapping by its table of keys."""
    said = {}
    for key, value in _mapping(part).items():
        if key in keys:
            attribute, read = keys[key]
            said[attribute] = _read(part.at(key), value, read)
        elif key not in others:
            known = [*keys, *others]
            from difflib import get_close_matches  # noqa: PLC0415 - slow to import, seldom needed

            nearest = get_close_matches(key, known, n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else f"known: {', '.join(known)}"
            part.at(key).fail("is no key that is known here", hint)
    return said


def _read(part: _Part, value: object, read: Callable[[Any], Any]) -> object:
    try:
        return read(value)
    except (PolicyError, ManifestError) as error:
        part.fail(error.problem, error.hint)


def _mapping(part: _Part) -> dict[str, Any]:
    if not isinstance(part.value, dict):
        part.fail(f"{part.value!r} is no mapping" if part.value is not None else "is empty")
    return part.value


def _list(part: _Part, key: str) -> list[_Part]:
    if key not in part.value:
        return []
    items = part.at(key)
    if not isinstance(items.value, list):
        items.fail("is no list" if items.value is not None else "is empty")
    return [items.at(index) for index in range(len(items.value))]
