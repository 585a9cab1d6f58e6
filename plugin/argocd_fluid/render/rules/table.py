"""Every rule of `lint`, once: its id is stable, its words are the documentation as well."""

from enum import StrEnum
from typing import Final

from argocd_fluid.errors import PolicyError, RenderError, UserError
from argocd_fluid.records import dataclass
from argocd_fluid.render.rules import containers, objects
from argocd_fluid.render.rules.workload import Check


class Level(StrEnum):
    """How much a finding weighs; the words are SARIF's."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule. A check looks at one object.

    An error without one stands for what `generate` refuses, a warning is about `fluid.yaml`.
    """

    id: str
    title: str
    why: str
    remedy: str
    level: Level = Level.WARNING
    check: Check | None = None


BAD_MANIFEST: Final = Rule(
    id="FW001",
    title="A manifest cannot be rendered",
    why="`generate` refuses it, so Argo CD shows an error and applies nothing.",
    remedy="correct the field that the message names",
    level=Level.ERROR,
)
BAD_POLICY: Final = Rule(
    id="FW002",
    title="A policy cannot be read",
    why="`fluid.yaml` or an annotation has an unknown key, a wrong type, or contradicts itself.",
    remedy="correct the key that the message names",
    level=Level.ERROR,
)
BAD_SOURCE: Final = Rule(
    id="FW003",
    title="The directory cannot be rendered",
    why="A file cannot be read, a tool failed, or there are no manifests.",
    remedy="correct what the message names",
    level=Level.ERROR,
)
IDLE_RULE: Final = Rule(
    id="FW116",
    title="A policy rule that matches nothing",
    why="A misspelt name leaves the containers that it is for with other settings, or not "
    "enrolled.",
    remedy="correct match, or remove the rule",
)
IDLE_PATCH: Final = Rule(
    id="FW117",
    title="A JSON patch that matches nothing",
    why="A misspelt name leaves the object that it is for as it is.",
    remedy="correct match, or remove the patch",
)
RULES: Final = (
    BAD_MANIFEST,
    BAD_POLICY,
    BAD_SOURCE,
    Rule(
        id="FW101",
        title="ttlSecondsAfterFinished in Git",
        why="The finished object deletes itself, Argo CD misses it, and the run starts again.",
        remedy="leave it out, or make the object a hook",
        check=objects.ttl_after_finished,
    ),
    Rule(
        id="FW102",
        title="A JobSet that a sync replaces",
        why="Replace drops the defaults that JobSet sets at creation only; Force ends the run.",
        remedy="remove the option from the sync-options annotation",
        check=objects.replaced_by_sync,
    ),
    Rule(
        id="FW103",
        title="backoffLimit: 0",
        why="One container that fails or is killed for memory ends its job, and JobSet recreates "
        "every pod, where a restart of the container with more memory would do.",
        remedy="allow at least one retry",
        check=objects.no_retry,
    ),
    Rule(
        id="FW104",
        title="A resize that restarts",
        why="With the resize policy RestartContainer every live resize restarts the container.",
        remedy="leave resizePolicy out: its default, NotRequired, restarts nothing",
        check=containers.restarted_by_resize,
    ),
    Rule(
        id="FW105",
        title="A container without cpu and memory",
        why="Nobody can resize it, for a resize never adds a request or limit, and it is the first "
        "to go when its node runs out of memory.",
        remedy="give it a request",
        check=containers.best_effort,
    ),
    Rule(
        id="FW106",
        title="One container that costs the class Guaranteed",
        why="All others have limits equal to their requests; this one makes the pod Burstable, "
        "for as long as it lives: no resize changes the class.",
        remedy="give it limits of cpu and memory equal to its requests",
        check=containers.loose_container,
    ),
    Rule(
        id="FW107",
        title="An image without a fixed tag",
        why="A recreated pod may run another image than its neighbours.",
        remedy="name a version or a digest",
        check=containers.moving_image,
    ),
    Rule(
        id="FW108",
        title="generateName",
        why="Argo CD tracks objects by name; each sync would make another one.",
        remedy="give it a name, or make it a hook",
        check=objects.generated_name,
    ),
    Rule(
        id="FW109",
        title="No bounds",
        why="Without min and max a request moves between a quarter of Git's and four times it.",
        remedy="give min and max in fluid.yaml or in the policy annotation",
        check=containers.no_bounds,
    ),
    Rule(
        id="FW110",
        title="Less than 25 % headroom",
        why="The upper bound is so near that a growing container meets it at its first resize, and "
        "its limit, which moves by the same factor, with it.",
        remedy="raise max, or lower the request",
        check=containers.little_headroom,
    ),
    Rule(
        id="FW111",
        title="A request outside its bounds",
        why="The controller holds the container at the bound, so Git's value is never in force.",
        remedy="change the request, or the bound",
        check=containers.outside_bounds,
    ),
    Rule(
        id="FW112",
        title="Memory without a limit",
        why="Usage is measured against the request, and nothing stops the container before its "
        "node runs out of memory and kills it.",
        remedy="give it a memory limit",
        check=containers.memory_without_limit,
    ),
    Rule(
        id="FW113",
        title="In-place restart is not available",
        why="The annotation opts in to live resizes and in-place restarts; this version does the "
        "first only.",
        remedy="keep it, or use argocd-fluid.io/enabled",
        level=Level.NOTE,
        check=objects.restart_not_available,
    ),
    Rule(
        id="FW114",
        title="A kind that is not resized live",
        why="The intent is written, but the controller of this version resizes the pods of JobSets "
        "only: a changed size is a rollout or a new run, as without argocd-fluid.",
        remedy="leave it enrolled for later, or opt out",
        check=objects.not_resized_live,
    ),
    Rule(
        id="FW115",
        title="Sizes of an init container",
        why="The live template of an enrolled JobSet keeps its sizes and no resize reaches an init "
        "container, so a change in Git takes effect in the next run only.",
        remedy="choose a size that lasts, or make it a native sidecar (restartPolicy: Always)",
        level=Level.NOTE,
        check=containers.sized_init_container,
    ),
    IDLE_RULE,
    IDLE_PATCH,
)


def rule_of(error: UserError) -> Rule:
    """Give the rule that stands for a refusal."""
    if isinstance(error, PolicyError):
        return BAD_POLICY
    return BAD_SOURCE if isinstance(error, RenderError) else BAD_MANIFEST


def as_markdown() -> str:
    """Write the table for docs/lint.md."""
    rows = [
        f"| {rule.id} | {rule.level} | {rule.title} | {rule.why} | {rule.remedy} |"
        for rule in RULES
    ]
    head = ["| id | level | what | why | remedy |", "|---|---|---|---|---|"]
    return "".join(f"{line}\n" for line in (*head, *rows))
