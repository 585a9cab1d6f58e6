"""What a change of manifests will do to live objects. Pure; the worst comes first per object.

It says what Argo CD, the API server and the controller will do with the rendered manifests of both
sides, taking for granted that the cluster has the first side live, with the admission policies.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import Any, Final

from argocd_fluid.constants import ENABLED, INTENT
from argocd_fluid.manifests.document import Document, Manifest, get
from argocd_fluid.manifests.kinds import Kind, kind_of, roles
from argocd_fluid.manifests.quantity import Quantity
from argocd_fluid.render.difference import Difference, differences
from argocd_fluid.render.intent import RESOURCES, Amounts, amounts_of
from argocd_fluid.render.mutability import is_refused


class Effect(StrEnum):
    """What happens, in the order of how much it hurts."""

    REFUSED = "sync fails"
    REMOVED = "pruned"
    RESTART = "pods replaced"
    RESIZE = "live resize"
    NEXT_RUN = "next run"
    POLICY = "policy"
    ENROLLED = "enrolled"
    LEFT = "left"
    CHANGED = "changed"
    NEW = "new"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One line of a plan. Role and container are "" where it is about the whole object."""

    object: str
    effect: Effect
    role: str = ""
    container: str = ""
    pods: int | None = None
    details: tuple[str, ...] = ()
    advice: str = ""


Rendered = tuple[Document, Manifest]
"""A source document and the manifest made of it."""

HELD: Final = frozenset({"JobSet"})
"""Kinds whose live template keeps its sizes: the policy keep-template is theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One container on one side."""

    pods: int
    amounts: Amounts
    policy: Mapping[str, Any] | None
    lasts: bool


def compare(before: Iterable[Rendered], after: Iterable[Rendered]) -> list[Change]:
    """Give the plan: objects in the order of the new side, then what it lacks."""
    old, new = _by_identity(before), _by_identity(after)
    changes: list[Change] = []
    for key, side in new.items():
        if key in old:
            found = _behind_refused(list(_changes(old[key], side)))
            nothing = Change(object=side[0].identity, effect=Effect.UNCHANGED)
            changes.extend(sorted(found, key=lambda change: list(Effect).index(change.effect)))
            changes.extend([] if found else [nothing])
        else:
            changes.append(Change(object=side[0].identity, effect=Effect.NEW))
    gone = [side[0].identity for key, side in old.items() if key not in new]
    advice = "Argo CD deletes it when it prunes; a run that it holds ends"
    changes.extend(Change(object=name, effect=Effect.REMOVED, advice=advice) for name in gone)
    return changes


def _behind_refused(changes: list[Change]) -> list[Change]:
    """Say of the other changes of an object that they wait: it is applied as a whole or not."""
    if all(change.effect is not Effect.REFUSED for change in changes):
        return changes
    waits = "not before the sync passes"
    return [
        change
        if change.effect in (Effect.REFUSED, Effect.UNCHANGED)
        else replace(change, advice="; ".join(filter(None, (waits, change.advice))))
        for change in changes
    ]


def _by_identity(rendered: Iterable[Rendered]) -> dict[tuple[str, str], Rendered]:
    return {
        (str(manifest["apiVersion"]).rpartition("/")[0], document.identity): (document, manifest)
        for document, manifest in rendered
    }


def _changes(old: Rendered, new: Rendered) -> Iterator[Change]:
    before, after = old[1], new[1]
    name, row = new[0].identity, kind_of(after)
    found = [d for d in differences(before, after) if d.keys[0] != "metadata"]
    if row is None:
        if found or before != after:
            details = tuple(str(each) for each in found)
            yield Change(object=name, effect=Effect.CHANGED, details=details)
        return
    yield from _enrolment(name, before, after)
    held = _is_enrolled(after) and after["kind"] in HELD
    others = [each for each in found if not (held and each.is_size)]
    yield from _template_changes(name, row, others, old=before, new=after)
    if held:
        yield from _container_changes(name, _parts(old), _parts(new))
    else:
        yield from _policy_changes(name, _parts(old), _parts(new))


def _enrolment(name: str, before: Manifest, after: Manifest) -> Iterator[Change]:
    if _is_enrolled(before) == _is_enrolled(after):
        return
    if _is_enrolled(after):
        yield Change(object=name, effect=Effect.ENROLLED, advice="resized live from now on")
    else:
        advice = "running pods keep their sizes, new ones get those of the live template"
        yield Change(object=name, effect=Effect.LEFT, advice=advice)


def _template_changes(
    name: str, row: Kind, found: list[Difference], *, old: Manifest, new: Manifest
) -> Iterator[Change]:
    refused = [each for each in found if is_refused(each, old, new)]
    rest = [each for each in found if each not in refused]
    if refused:
        yield Change(
            object=name,
            effect=Effect.REFUSED,
            details=tuple(str(each) for each in refused),
            advice=_way_on(new, refused),
        )
    template = [each for each in rest if "template" in each.keys]
    if template and not row.is_batch:
        details = tuple(str(each) for each in template)
        yield Change(object=name, effect=Effect.RESTART, details=details)
    elif template:
        details = tuple(str(each) for each in template)
        yield Change(object=name, effect=Effect.NEXT_RUN, details=details)
    plain = tuple(str(each) for each in rest if each not in template)
    if plain:
        yield Change(object=name, effect=Effect.CHANGED, details=plain)


def _way_on(manifest: Manifest, refused: list[Difference]) -> str:
    if manifest["kind"] in HELD and all(each.is_size for each in refused):
        return f'opt in with the annotation {ENABLED}: "true", then this is a live resize'
    return (
        "give it a new name (the old run is pruned), or let Argo CD delete and recreate it with "
        "the annotation argocd.argoproj.io/sync-options: Force=true,Replace=true; the run restarts"
    )


def _container_changes(
    name: str, old: Mapping[tuple[str, str], _Part], new: Mapping[tuple[str, str], _Part]
) -> Iterator[Change]:
    for (role, container), after in new.items():
        before = old.get((role, container))
        if before is None:
            continue
        found = list(_size_changes(before, after)) + list(_policy_change(before, after))
        for effect, details, advice in found or [(Effect.UNCHANGED, (), "")]:
            yield Change(
                object=name,
                effect=effect,
                role=role,
                container=container,
                pods=after.pods,
                details=details,
                advice=advice,
            )


def _policy_changes(
    name: str, old: Mapping[tuple[str, str], _Part], new: Mapping[tuple[str, str], _Part]
) -> Iterator[Change]:
    for change in _container_changes(name, old, new):
        if change.effect is Effect.POLICY:
            yield change


_Line = tuple[Effect, tuple[str, ...], str]


def _size_changes(before: _Part, after: _Part) -> Iterator[_Line]:
    leaves = list(_leaves(before.amounts, after.amounts))
    live = [leaf for leaf in leaves if after.lasts and None not in (leaf.before, leaf.after)]
    if live:
        yield Effect.RESIZE, tuple(_described(live)), _caveat(after)
    later = [leaf for leaf in leaves if leaf not in live]
    if later:
        advice = "a live resize neither adds nor removes a request or limit"
        yield (
            Effect.NEXT_RUN,
            tuple(_described(later)),
            advice if after.lasts else "no resize reaches an init container",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leaf:
    """One request or limit that differs; None is absent."""

    resource: str
    kind: str
    before: Quantity | None
    after: Quantity | None

    def __str__(self) -> str:
        old, new = (each if each is not None else "absent" for each in (self.before, self.after))
        return f"{old} -> {new}"


def _leaves(before: Amounts, after: Amounts) -> Iterator[_Leaf]:
    for resource in RESOURCES:
        for kind in ("requests", "limits"):
            old, new = (side.get(kind, {}).get(resource) for side in (before, after))
            if old != new:
                yield _Leaf(resource=resource, kind=kind[:-1], before=old, after=new)


def _described(leaves: list[_Leaf]) -> Iterator[str]:
    """Say once what holds for request and limit alike."""
    for resource, group in groupby(leaves, key=lambda leaf: leaf.resource):
        found = list(group)
        texts = {str(leaf) for leaf in found}
        if len(found) > len(texts):
            yield f"{resource} {found[0]}"
        else:
            yield from (f"{resource} {leaf.kind} {leaf}" for leaf in found)


def _caveat(after: _Part) -> str:
    mode = (after.policy or {}).get("mode")
    return "" if mode == "auto" else f"mode is {mode}: the controller does not do it"


def _policy_change(before: _Part, after: _Part) -> Iterator[_Line]:
    if before.policy is None or after.policy is None:
        return
    found = tuple(str(each) for each in differences(before.policy, after.policy))
    if found:
        yield Effect.POLICY, found, ""


def _parts(side: Rendered) -> dict[tuple[str, str], _Part]:
    document, manifest = side
    text = get(manifest, ("metadata", "annotations", INTENT))
    intended = json.loads(text)["roles"] if _is_enrolled(manifest) else {}
    return {
        (role.name, container.name): _Part(
            pods=role.pods,
            amounts=amounts_of(document, container),
            policy=get(intended, (role.name, container.name, "policy")),
            lasts=container in role.containers,
        )
        for role in roles(document)
        for container in (*role.init_containers, *role.containers)
    }


def _is_enrolled(manifest: Manifest) -> bool:
    annotations = get(manifest, ("metadata", "annotations"))
    if not isinstance(annotations, dict):
        return False
    return INTENT in annotations and annotations.get(ENABLED) != "false"
