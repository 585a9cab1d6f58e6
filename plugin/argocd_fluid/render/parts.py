"""The containers of a workload on both sides of a plan, with what their pods are. Pure."""

import json
from collections.abc import Iterator

from argocd_fluid.constants import ENABLED, INTENT, PAUSED
from argocd_fluid.manifests.document import Document, Manifest, get
from argocd_fluid.manifests.kinds import Role, roles
from argocd_fluid.records import replace
from argocd_fluid.render.effects import Part, with_live_leaves
from argocd_fluid.render.intent import amounts_of, pod_amounts
from argocd_fluid.render.pod_level import Amounts, Qos, qos_of

Rendered = tuple[Document, Manifest]
"""A source document and the manifest made of it."""
Pair = tuple[tuple[str, str], Part, Part]
"""Role and container, then both sides."""


def is_enrolled(manifest: Manifest) -> bool:
    """Whether the controller looks at it."""
    annotations = get(manifest, ("metadata", "annotations"))
    if not isinstance(annotations, dict):
        return False
    return INTENT in annotations and annotations.get(ENABLED) != "false"


def pairs(old: Rendered, new: Rendered) -> Iterator[Pair]:
    """Give the containers that both sides have, in the order of the new one."""
    before = {role.name: (role, _parts(old, role)) for role in roles(old[0])}
    for role in roles(new[0]):
        if role.name not in before:
            continue
        old_role, old_parts = before[role.name]
        new_parts = _parts(new, role)
        if old_role.is_whole:
            pod = pod_amounts(old[0], old_role)
            new_parts = _with_qos_changes(old_parts, new_parts, pod)
        for name, after in new_parts.items():
            if name in old_parts:
                yield (role.name, name), old_parts[name], after


def _parts(side: Rendered, role: Role) -> dict[str, Part]:
    document, manifest = side
    intended = {}
    is_paused = get(manifest, ("metadata", "annotations", PAUSED)) == "true"
    paused_kind = str(manifest["kind"]) if is_paused else ""
    if is_enrolled(manifest):
        text = get(manifest, ("metadata", "annotations", INTENT))
        intended = json.loads(text)["roles"].get(role.name, {})
    return {
        container.name: Part(
            pods=role.pods,
            amounts=amounts_of(document, container),
            policy=get(intended, (container.name, "policy")),
            lasts=container in role.containers,
            paused_kind=paused_kind,
        )
        for container in (*role.init_containers, *role.containers)
    }


def _with_qos_changes(
    before: dict[str, Part], after: dict[str, Part], pod: Amounts
) -> dict[str, Part]:
    """Mark the containers whose live resize would change the class of their pod."""
    old = {name: part.amounts for name, part in before.items()}
    resized = {
        name: with_live_leaves(part, after[name]) for name, part in before.items() if name in after
    }
    was = qos_of(old.values(), pod)
    alone = {name: qos_of({**old, name: size}.values(), pod) for name, size in resized.items()}
    guilty = {name: qos for name, qos in alone.items() if qos is not was}
    together = qos_of({**old, **resized}.values(), pod)
    if not guilty and together is not was:
        # One after the other they would pass until the last: none of them is sure to.
        guilty = dict.fromkeys(resized, together)
    return {
        name: replace(part, qos_change=_change(was, guilty[name])) if name in guilty else part
        for name, part in after.items()
    }


def _change(before: Qos, after: Qos) -> str:
    return f"{before} pod a {after}"
