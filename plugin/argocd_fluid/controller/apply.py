"""One PATCH of pods/resize, and what its answer means. The only place that changes a pod.

A strategic merge patch with the changed leaves alone: a JSON merge patch would replace the list of
containers, a null would silently set a request to its limit. uid and resourceVersion guard against
a recreated pod and against anything decided on an older version.
"""

from dataclasses import dataclass
from enum import StrEnum

from argocd_fluid.controller.intent import size_of
from argocd_fluid.engine.model import PodResize, Resource, Size
from argocd_fluid.engine.plan import patch_body
from argocd_fluid.engine.sizes import merged
from argocd_fluid.errors import (
    ApiError,
    Conflict,
    Forbidden,
    NotFound,
    Terminal,
    Unreachable,
)
from argocd_fluid.kube.client import STRATEGIC_MERGE_PATCH, Client
from argocd_fluid.kube.endpoints import PODS
from argocd_fluid.kube.types import Pod


class Verdict(StrEnum):
    """What became of a resize at the API server. The kubelet's answer comes in the pod's status."""

    ACCEPTED = "accepted"
    ALTERED = "altered"  # accepted, but admission changed other leaves too
    REFUSED = "refused"  # will be refused again while nothing changes
    STALE = "stale"  # decided on an older pod: look again
    GONE = "gone"
    UNKNOWN = "unknown"  # no answer: read the pod before anything else


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The verdict; `pod` where the server gave it, `reason` and `message` where it did not."""

    verdict: Verdict
    pod: Pod | None = None
    reason: str = ""
    message: str = ""


def send(client: Client, resize: PodResize, pod: Pod) -> Answer:
    """Send a resize once."""
    path = PODS.path(resize.namespace, resize.name, "resize")
    try:
        changed = client.patch(path, patch_body(resize), Pod, content_type=STRATEGIC_MERGE_PATCH)
    except ApiError as error:
        return answer_of(error)
    foreign = altered(resize, pod, changed)
    if foreign:
        message = f"admission also changed {', '.join(foreign)}: a LimitRange with defaults?"
        return Answer(verdict=Verdict.ALTERED, pod=changed, reason="Altered", message=message)
    return Answer(verdict=Verdict.ACCEPTED, pod=changed)


def answer_of(error: ApiError) -> Answer:
    """Tell refusals, which stay, from answers that only say: look again."""
    if isinstance(error, Unreachable):
        return Answer(verdict=Verdict.UNKNOWN, reason="NoAnswer", message=str(error))
    if isinstance(error, Conflict):
        return Answer(verdict=Verdict.STALE, reason="Conflict", message=str(error))
    if isinstance(error, NotFound):
        return Answer(verdict=Verdict.GONE, reason="NotFound", message=str(error))
    if isinstance(error, Terminal) and "metadata.uid" in str(error):
        return Answer(verdict=Verdict.GONE, reason="Recreated", message=str(error))
    return Answer(verdict=Verdict.REFUSED, reason=_refusal(error), message=str(error))


def altered(resize: PodResize, before: Pod, after: Pod) -> list[str]:
    """Name the leaves that changed without being asked for."""
    old, new = _sizes(before), _sizes(after)
    changed = []
    for name, size in new.items():
        asked = resize.sizes.get(name, Size())
        for resource in Resource:
            was, now, wanted = old[name].of(resource), size.of(resource), asked.of(resource)
            for leaf in ("request", "limit"):
                expected = getattr(wanted, leaf)
                expected = getattr(was, leaf) if expected is None else expected
                if getattr(now, leaf) != expected:
                    changed.append(f"{name}.{leaf}.{resource.value}")
    return changed


def has_sizes(pod: Pod, resize: PodResize) -> bool:
    """Tell whether a pod has every leaf that a resize asked for."""
    sizes = _sizes(pod)
    return all(
        name in sizes and merged(sizes[name], leaves) == sizes[name]
        for name, leaves in resize.sizes.items()
    )


def _refusal(error: ApiError) -> str:
    """403 has many reasons: the cause first, then the text (there is nothing better)."""
    text = str(error)
    if not isinstance(error, Forbidden):
        return "Invalid"
    if error.cause:
        return error.cause
    texts = {
        "exceeded quota": "QuotaExceeded",
        "per Container": "LimitRange",
        "per Pod": "LimitRange",
        "cannot patch resource": "NotPermitted",
    }
    return next((reason for part, reason in texts.items() if part in text), "Forbidden")


def _sizes(pod: Pod) -> dict[str, Size]:
    containers = [*pod.spec.containers, *(pod.spec.init_containers or ())]
    return {one.name: size_of(one.resources) for one in containers}
