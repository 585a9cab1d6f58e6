"""What a change of manifests will do to live objects. Pure; the worst comes first per object.

It says what Argo CD, the API server and the controller will do with the rendered manifests of both
sides, taking for granted that the cluster has the first side live, with the admission policies.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from argocd_fluid.constants import ENABLED, INTENT
from argocd_fluid.manifests.document import Document, Manifest, get
from argocd_fluid.manifests.kinds import Kind, kind_of, roles
from argocd_fluid.render.difference import Difference, differences
from argocd_fluid.render.effects import Effect, Part, effects
from argocd_fluid.render.intent import amounts_of
from argocd_fluid.render.mutability import is_refused


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
    name: str, old: Mapping[tuple[str, str], Part], new: Mapping[tuple[str, str], Part]
) -> Iterator[Change]:
    for (role, container), after in new.items():
        before = old.get((role, container))
        if before is None:
            continue
        found = list(effects(before, after))
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
    name: str, old: Mapping[tuple[str, str], Part], new: Mapping[tuple[str, str], Part]
) -> Iterator[Change]:
    for change in _container_changes(name, old, new):
        if change.effect is Effect.POLICY:
            yield change


def _parts(side: Rendered) -> dict[tuple[str, str], Part]:
    document, manifest = side
    text = get(manifest, ("metadata", "annotations", INTENT))
    intended = json.loads(text)["roles"] if _is_enrolled(manifest) else {}
    return {
        (role.name, container.name): Part(
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
