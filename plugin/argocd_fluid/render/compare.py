"""What a change of manifests will do to live objects. Pure; the worst comes first per object.

It says what Argo CD, the API server and the controller will do with the rendered manifests of both
sides, taking for granted that the cluster has the first side live, with the admission policies.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from argocd_fluid.constants import ENABLED, FLUID_RESTART, INTENT, PAUSED, POLICY
from argocd_fluid.manifests.document import Manifest
from argocd_fluid.manifests.kinds import kind_of
from argocd_fluid.manifests.layout import Kind, OnChange
from argocd_fluid.records import dataclass, replace
from argocd_fluid.render.difference import Difference, differences
from argocd_fluid.render.effects import Effect, effects, remarks
from argocd_fluid.render.mutability import is_refused
from argocd_fluid.render.parts import Rendered, is_enrolled, pairs
from argocd_fluid.render.pod_level import Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One line of a plan. Role and container are "" where it is about the whole object."""

    object: str
    workload: tuple[str, str, str] | None = None
    """Kind, namespace and name; None for what has no pods."""
    effect: Effect
    role: str = ""
    container: str = ""
    pods: int | None = None
    sizes: tuple[Amounts, Amounts] | None = None
    details: tuple[str, ...] = ()
    advice: str = ""


OURS: Final = (ENABLED, FLUID_RESTART, INTENT, POLICY)
"""Annotations of which the outcome is told: enrolment, and policy and sizes per container."""


def compare(before: Iterable[Rendered], after: Iterable[Rendered]) -> list[Change]:
    """Give the plan: objects in the order of the new side, then what it lacks."""
    old, new = _by_identity(before), _by_identity(after)
    changes: list[Change] = []
    for key, side in new.items():
        if key in old:
            found = _behind_refused(list(_changes(old[key], side)))
            nothing = Change(object=side[0].identity, effect=Effect.UNCHANGED)
            found = sorted(found, key=lambda change: list(Effect).index(change.effect)) or [nothing]
        else:
            found = [Change(object=side[0].identity, effect=Effect.NEW, advice=_at_first(side))]
        changes.extend(replace(change, workload=_workload(side)) for change in found)
    advice = "Argo CD deletes it when it prunes; a run that it holds ends"
    for key, side in old.items():
        if key not in new:
            gone = Change(object=side[0].identity, effect=Effect.REMOVED, advice=advice)
            changes.append(replace(gone, workload=_workload(side)))
    return changes


def _at_first(side: Rendered) -> str:
    """Say where the policy keeps a new workload from the sizes that Git asks for."""
    told = [(name, remarks(part)) for (_, name), _, part in pairs(side, side)]
    return "; ".join(f"{name}: {remark}" for name, remark in told if remark)


def _workload(side: Rendered) -> tuple[str, str, str] | None:
    manifest = side[1]
    if kind_of(manifest) is None:
        return None
    metadata = manifest.get("metadata") or {}
    name = metadata.get("name") or metadata.get("generateName") or ""
    return manifest["kind"], str(metadata.get("namespace") or ""), str(name)


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
    found = list(differences(before, after))
    if row is None:
        if found or before != after:
            details = tuple(str(each) for each in found)
            yield Change(object=name, effect=Effect.CHANGED, details=details)
        return
    yield from _enrolment(name, before, after)
    held = is_enrolled(after) and row.keeps_sizes
    others = [
        each
        for each in found
        if each.keys[0] != "metadata" and not (held and each.is_size) and not _is_default(row, each)
    ]
    yield from _template_changes(name, row, others, old=before, new=after)
    metadata = tuple(str(each) for each in found if _is_metadata(each))
    if metadata:
        advice = _after_pause(found)
        yield Change(object=name, effect=Effect.METADATA, details=metadata, advice=advice)
    if held:
        yield from _container_changes(name, old, new)
    else:
        yield from _policy_changes(name, old, new)


def _is_metadata(each: Difference) -> bool:
    follows = each.keys[1:2] == ("annotations",) and each.keys[2:3] in [(key,) for key in OURS]
    return each.keys[0] == "metadata" and not follows


def _is_default(row: Kind, each: Difference) -> bool:
    """Whether Git spells out what the webhook has given the live object already."""
    defaults = {
        (*slot.each, *path): value for slot in row.slots for path, value in row.defaults.items()
    }
    return each.before is None and each.after is not None and defaults.get(each.keys) == each.after


def _after_pause(found: list[Difference]) -> str:
    for each in found:
        if each.keys == ("metadata", "annotations", PAUSED):
            if each.after == "true":
                return "no more resizes until the pause ends"
            return "resizes go on" if each.before == "true" else ""
    return ""


def _enrolment(name: str, before: Manifest, after: Manifest) -> Iterator[Change]:
    if is_enrolled(before) == is_enrolled(after):
        return
    if is_enrolled(after):
        yield Change(object=name, effect=Effect.ENROLLED, advice="resized live from now on")
    else:
        yield Change(object=name, effect=Effect.LEFT, advice=_after_leaving(after))


def _after_leaving(after: Manifest) -> str:
    row, advice = kind_of(after), "running pods keep their sizes, new ones get the live template's"
    if row is None or not row.keeps_sizes:
        return advice
    metadata = after["metadata"]
    place = f" -n {metadata['namespace']}" if metadata.get("namespace") else ""
    command = f"kubectl get {row.kind.lower()} {metadata.get('name')}{place} -o yaml"
    advice += (
        "; the sync fails where Git's sizes differ from those that it was created with: "
        f"{command} shows them"
    )
    if (metadata.get("annotations") or {}).get(ENABLED) != "false":
        fields = " and ".join(f"{path[-1]}: {value}" for path, value in row.defaults.items())
        advice += f'; without {ENABLED}: "false" Git must spell out {fields}'
    return advice


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
            advice=_way_on(row, refused),
        )
    template = [each for each in rest if _is_of_template(row, each)]
    if template:
        details = tuple(str(each) for each in template)
        effect = _effect(row)
        advice = _IN_PLACE if effect is Effect.RESTART and _is_pod(row) else ""
        yield Change(object=name, effect=effect, details=details, advice=advice)
    plain = tuple(str(each) for each in rest if each not in template)
    if plain:
        yield Change(object=name, effect=Effect.CHANGED, details=plain)


_IN_PLACE: Final = "its containers restart in place"


def _is_pod(row: Kind) -> bool:
    return any(not slot.template for slot in row.slots)


def _effect(row: Kind) -> Effect:
    """Say what a change of the pod template does that the API takes."""
    if row.on_change is OnChange.ROLLOUT:
        return Effect.RESTART
    if row.on_change is OnChange.IMMUTABLE and row.template_while_suspended is None:
        # What an object takes that is a pod itself, it does by restarting containers.
        return Effect.RESTART
    return Effect.NEXT_RUN


def _is_of_template(row: Kind, each: Difference) -> bool:
    paths = [(*slot.each, *slot.template) for slot in row.slots if not slot.is_mapping]
    if _is_pod(row):
        return each.keys[1:2] in (("containers",), ("initContainers",))
    # The keys on the way have no list indexes, but they have the names of a mapping's items.
    inside = [(slot.each, slot.template) for slot in row.slots if slot.is_mapping]
    return any(each.keys[: len(path)] == path for path in paths) or any(
        each.keys[: len(base)] == base
        and each.keys[len(base) + 1 : len(base) + 1 + len(template)] == template
        for base, template in inside
    )


def _way_on(row: Kind, refused: list[Difference]) -> str:
    if row.keeps_sizes and all(each.is_size for each in refused):
        return f'opt in with the annotation {ENABLED}: "true", then this is a live resize'
    if all(_is_default(row, replace(each, before=None, after=each.before)) for each in refused):
        return f'spell it out in Git, or set {ENABLED}: "false" instead of removing it'
    return (
        "give it a new name (the old run is pruned), or let Argo CD delete and recreate it with "
        "the annotation argocd.argoproj.io/sync-options: Force=true,Replace=true; the run restarts"
    )


def _container_changes(name: str, old: Rendered, new: Rendered) -> Iterator[Change]:
    for (role, container), before, after in pairs(old, new):
        found = list(effects(before, after))
        for effect, details, advice in found or [(Effect.UNCHANGED, (), "")]:
            is_size = effect in (Effect.RESIZE, Effect.HELD, Effect.NEXT_RUN)
            yield Change(
                object=name,
                effect=effect,
                role=role,
                container=container,
                pods=after.pods,
                sizes=(before.amounts, after.amounts) if is_size else None,
                details=details,
                advice=advice,
            )


def _policy_changes(name: str, old: Rendered, new: Rendered) -> Iterator[Change]:
    for change in _container_changes(name, old, new):
        if change.effect is Effect.POLICY:
            yield change
