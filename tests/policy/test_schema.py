"""A slip in fluid.yaml or in an annotation is an error at its place, never a default."""

import pytest
from argocd_fluid.errors import PolicyError
from argocd_fluid.manifests.reader import read
from argocd_fluid.policy.match import NO_POLICY, Match, Policy, Rule
from argocd_fluid.policy.model import Limits, Mode
from argocd_fluid.policy.schema import read_annotation, read_policy
from argocd_fluid.policy.settings import ResourceSettings, Settings

HEAD = "apiVersion: argocd-fluid.io/v1alpha1\nkind: FluidPolicy\n"


def policy(body):
    return read_policy(read(f"{HEAD}{body}".encode(), "fluid.yaml")[0])


def annotated(text):
    head = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\n  annotations:\n"
    manifest = f"{head}    argocd-fluid.io/policy: {text}\n"
    return read_annotation(read(manifest.encode(), "pod.yaml")[0])


def test_reads_everything():
    body = """\
spec:
  mode: recommend
  rules:
  - match: {kind: JobSet, name: "train-*", role: workers, container: trainer}
    cpu: {min: 500m, max: "16", scaleUpAt: 0.9, target: 0.6, scaleDownAt: 0.3, limits: keep}
    memory: {min: 1Gi, max: 64Gi, target: 0.7, oomFactor: 2}
    scaleUp: {cooldown: 15s, maxFactor: 3}
    scaleDown: {after: 1h30m, memory: false}
    priority: -1
  - mode: off
"""
    rule = Rule(
        match=Match(kind="JobSet", name="train-*", role="workers", container="trainer"),
        names_kind=True,
        settings=Settings(
            cpu=ResourceSettings(
                min=500,
                max=16000,
                scale_up_at=0.9,
                target=0.6,
                scale_down_at=0.3,
                limits=Limits.KEEP,
            ),
            memory=ResourceSettings(min=1 << 30, max=64 << 30, target=0.7, oom_factor=2.0),
            scale_up_cooldown_s=15.0,
            scale_up_max_factor=3.0,
            scale_down_after_s=5400.0,
            scale_down_memory=False,
            priority=-1,
        ),
    )
    # YAML reads an unquoted `off` as false; here it can only mean the mode.
    off = Rule(settings=Settings(mode=Mode.OFF))
    assert policy(body) == Policy(settings=Settings(mode=Mode.RECOMMEND), rules=(rule, off))


def test_nothing_is_said_in_an_empty_policy():
    assert policy("") == policy("spec: {}") == policy("metadata: {name: x}") == NO_POLICY


WRONG = {
    "spec: {rules: [{match: {kynd: a}}]}": ("spec.rules[0].match.kynd", "did you mean kind?"),
    "spec: {rules: [{match: {kind: jobset}}]}": (
        "spec.rules[0].match.kind",
        "did you mean JobSet?",
    ),
    "spec: {rules: [{match: {kind: Service}}]}": (
        "spec.rules[0].match.kind",
        "'Service' is no kind that is known here",
    ),
    "speck: {}": ("speck", "did you mean spec?"),
    "spec: {cpu: {mim: 1}}": ("spec.cpu.mim", "did you mean min?"),
    "spec: {cpu: {oomFactor: 2}}": ("spec.cpu.oomFactor", "known: min, max, scaleUpAt"),
    "spec: {match: {kind: Job}}": ("spec.match", "is no key"),
    "spec:": ("spec", "is empty"),
    "spec: []": ("spec", "is no mapping"),
    "spec: {rules: {}}": ("spec.rules", "is no list"),
    "spec: {rules: [1]}": ("spec.rules[0]", "is no mapping"),
    "spec: {rules: [{match: {role: 1}}]}": ("spec.rules[0].match.role", "is no text"),
    "spec: {cpu: 4}": ("spec.cpu", "is no mapping"),
    "spec: {cpu: {min: 2, max: 1}}": ("spec.cpu.min", "2 is larger than max 1"),
    "spec: {cpu: {min: 1K}}": ("spec.cpu.min", "no suffix that Kubernetes knows"),
    "spec: {cpu: {min: 0}}": ("spec.cpu.min", "is not above zero"),
    "spec: {cpu: {min: [1]}}": ("spec.cpu.min", "is no quantity"),
    "spec: {cpu: {max: true}}": ("spec.cpu.max", "is no quantity"),
    "spec: {cpu: {target: 80}}": ("spec.cpu.target", "is not above 0 and at most 1"),
    "spec: {cpu: {target: '0.8'}}": ("spec.cpu.target", "is no number"),
    "spec: {memory: {target: 0.9, scaleUpAt: 0.8}}": (
        "spec.memory.target",
        "0.9 is not below scaleUpAt 0.8",
    ),
    "spec: {memory: {target: 0.4, scaleDownAt: 0.4}}": (
        "spec.memory.target",
        "0.4 is not above scaleDownAt 0.4",
    ),
    "spec: {memory: {scaleUpAt: 0.3, scaleDownAt: 0.4}}": (
        "spec.memory.scaleDownAt",
        "0.4 is not below scaleUpAt 0.3",
    ),
    "spec: {memory: {oomFactor: 1}}": ("spec.memory.oomFactor", "is not above 1"),
    "spec: {memory: {limits: double}}": ("spec.memory.limits", "none of proportional, keep"),
    "spec: {scaleUp: {cooldown: 5x}}": ("spec.scaleUp.cooldown", "is no duration"),
    "spec: {scaleDown: {memory: 1}}": ("spec.scaleDown.memory", "neither true nor false"),
    "spec: {mode: on}": ("spec.mode", "none of auto, recommend, off"),
    "spec: {mode: fast}": ("spec.mode", "none of auto, recommend, off"),
    "spec: {priority: 1.5}": ("spec.priority", "is no whole number"),
    "spec: {restart: {mode: in-place}}": ("spec.restart", "is not available in this version"),
}


@pytest.mark.parametrize(("body", "expected"), WRONG.items(), ids=WRONG.keys())
def test_names_file_line_and_field(body, expected):
    with pytest.raises(PolicyError) as caught:
        policy(body)
    field, problem = expected
    assert str(caught.value).startswith(f"fluid.yaml:3: FluidPolicy: {field}: ")
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    "head",
    ["kind: FluidPolicy\n", "apiVersion: argocd-fluid.io/v1\nkind: FluidPolicy\n", "a: 1\n"],
)
def test_refuses_another_kind_of_file(head):
    with pytest.raises(PolicyError, match=r"is no (key|FluidPolicy)"):
        read_policy(read(f"{head}spec: {{}}\n".encode(), "fluid.yaml")[0])


def test_annotation_is_a_body_like_spec():
    text = "|\n      mode: recommend\n      rules: [{match: {role: workers}, priority: 3}]"
    assert annotated(text) == Policy(
        settings=Settings(mode=Mode.RECOMMEND),
        rules=(Rule(match=Match(role="workers"), settings=Settings(priority=3)),),
    )
    assert annotated("'cpu: {max: 4}'").settings.cpu.max == 4000


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("|\n      cpu:\n        max: 4\n        mim: 3", 9, "cpu.mim: is no key"),
        ("'cpu: {mim: 1}'", 6, "cpu.mim: is no key"),
        ("|\n      cpu:\n       max: 4\n      - a", 9, "is no YAML"),
        ("|\n      a: 1\n      a: 2", 8, "key 'a' is given twice"),
        ("|\n      cpu: {}\n      ---\n      cpu: {}", 9, "more than one document"),
        ("5", 6, "is no text"),
        ("''", 6, "is empty"),
    ],
    ids=["key", "one line", "syntax", "duplicate", "documents", "number", "empty"],
)
def test_annotation_error_has_the_line_in_the_manifest(text, line, problem):
    with pytest.raises(PolicyError) as caught:
        annotated(text)
    start = f"pod.yaml:{line}: Pod x: metadata.annotations[argocd-fluid.io/policy]: "
    assert str(caught.value).startswith(start)
    assert problem in str(caught.value)


def test_no_annotation_says_nothing():
    document = read(b"apiVersion: v1\nkind: Pod\nmetadata: {name: x}", "f")[0]
    assert read_annotation(document) == NO_POLICY
