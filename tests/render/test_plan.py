import json
import subprocess
from pathlib import Path

import pytest
from argocd_fluid.cli import main
from argocd_fluid.render.compare import compare
from argocd_fluid.render.generate import render
from argocd_fluid.render.parameters import Parameters

JOBSET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: train
  annotations:
    argocd-fluid.io/enabled: "true"
spec:
  replicatedJobs:
  - name: workers
    replicas: 2
    template:
      spec:
        parallelism: 3
        template:
          spec:
            initContainers:
            - name: fetch
              image: fetch:1
              resources: {requests: {memory: 1Gi}}
            containers:
            - name: trainer
              image: trainer:1
              resources:
                requests: {cpu: "2", memory: 4Gi}
                limits: {memory: 4Gi}
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "web:1", resources: {requests: {cpu: 1}}}
"""
TRAINER = "spec.replicatedJobs[workers].template.spec.template.spec.containers[trainer]"
UNENROLLED = JOBSET.replace('"true"', '"false"')


@pytest.fixture
def sides(tmp_path):
    def write(before: str, after: str) -> tuple[Path, Path]:
        for side, text in (("old", before), ("new", after)):
            (tmp_path / side).mkdir()
            (tmp_path / side / "all.yaml").write_text(text)
        return tmp_path / "old", tmp_path / "new"

    return write


@pytest.fixture
def plan(sides, capsysbinary):
    def run(before: str, after: str, *options: str, code: int = 0) -> str:
        old, new = sides(before, after)
        assert main(["plan", str(old), str(new), *options]) == code
        return capsysbinary.readouterr().out.decode()

    return run


@pytest.fixture
def workloads(plan):
    def run(before: str, after: str) -> list[dict]:
        return json.loads(plan(before, after, "--format", "json"))["workloads"]

    return run


@pytest.fixture
def effects(sides):
    def run(before: str, after: str) -> list[tuple[str, str, str]]:
        old, new = (render(side, Parameters(allow_empty=True)) for side in sides(before, after))
        return [
            (change.container, change.effect, ", ".join(change.details))
            for change in compare(old, new)
        ]

    return run


CASES = {
    "a size is resized live": (
        JOBSET,
        JOBSET.replace('cpu: "2"', "cpu: 2500m"),
        [
            ("trainer", "live resize", "cpu request 2 -> 2500m"),
            ("trainer", "policy", "cpu.max 8 -> 10, cpu.min 500m -> 625m"),
            ("fetch", "unchanged", ""),
        ],
    ),
    "request and limit together are told once": (
        JOBSET,
        JOBSET.replace("4Gi", "5Gi"),
        [
            ("trainer", "live resize", "memory 4Gi -> 5Gi"),
            ("trainer", "policy", "memory.max 16Gi -> 20Gi, memory.min 1Gi -> 1280Mi"),
            ("fetch", "unchanged", ""),
        ],
    ),
    "the same size in other words": (
        JOBSET,
        JOBSET.replace('cpu: "2"', "cpu: 2000m").replace("4Gi", "4096Mi"),
        [("fetch", "unchanged", ""), ("trainer", "unchanged", "")],
    ),
    "a limit that comes waits for the next run": (
        JOBSET,
        JOBSET.replace("limits: {memory: 4Gi}", "limits: {memory: 4Gi, cpu: 4}"),
        [("trainer", "next run", "cpu limit absent -> 4"), ("fetch", "unchanged", "")],
    ),
    "an init container is not resized": (
        JOBSET,
        JOBSET.replace("memory: 1Gi", "memory: 2Gi"),
        [("fetch", "next run", "memory request 1Gi -> 2Gi"), ("trainer", "unchanged", "")],
    ),
    "an image is immutable": (
        JOBSET,
        JOBSET.replace("trainer:1", "trainer:2"),
        [
            (
                "",
                "sync fails",
                f"{TRAINER}.image trainer:1 -> trainer:2",
            ),
            ("fetch", "unchanged", ""),
            ("trainer", "unchanged", ""),
        ],
    ),
    "more replicas are immutable": (
        JOBSET,
        JOBSET.replace("replicas: 2", "replicas: 4"),
        [
            ("", "sync fails", "spec.replicatedJobs[workers].replicas 2 -> 4"),
            ("fetch", "unchanged", ""),
            ("trainer", "unchanged", ""),
        ],
    ),
    "suspending is allowed": (
        JOBSET,
        JOBSET.replace("spec:\n  repl", "spec:\n  suspend: true\n  repl"),
        [
            ("", "changed", "spec.suspend absent -> True"),
            ("fetch", "unchanged", ""),
            ("trainer", "unchanged", ""),
        ],
    ),
    "without opt-in a size is immutable": (
        UNENROLLED,
        UNENROLLED.replace('cpu: "2"', 'cpu: "3"'),
        [
            (
                "",
                "sync fails",
                f"{TRAINER}.resources.requests.cpu 2 -> 3",
            )
        ],
    ),
    "opting in": (
        UNENROLLED,
        JOBSET,
        [("", "enrolled", ""), ("fetch", "unchanged", ""), ("trainer", "unchanged", "")],
    ),
    "a Deployment rolls": (
        DEPLOYMENT,
        DEPLOYMENT.replace("cpu: 1", "cpu: 2"),
        [
            (
                "",
                "pods replaced",
                "spec.template.spec.containers[web].resources.requests.cpu 1 -> 2",
            )
        ],
    ),
    "a Deployment's selector is immutable": (
        DEPLOYMENT,
        DEPLOYMENT.replace("matchLabels: {app: web}", "matchLabels: {app: shop}"),
        [("", "sync fails", "spec.selector.matchLabels.app web -> shop")],
    ),
    "a Deployment scales": (
        DEPLOYMENT,
        DEPLOYMENT.replace("replicas: 2", "replicas: 3"),
        [("", "changed", "spec.replicas 2 -> 3")],
    ),
    "new and pruned": (JOBSET, DEPLOYMENT, [("", "new", ""), ("", "pruned", "")]),
}


@pytest.mark.parametrize(("before", "after", "expected"), CASES.values(), ids=CASES.keys())
def test_says_what_a_change_does(before, after, expected, effects) -> None:
    assert effects(before, after) == expected


def test_a_resize_waits_behind_a_refused_change(plan) -> None:
    after = JOBSET.replace('cpu: "2"', 'cpu: "3"').replace("trainer:1", "trainer:2")
    resize = next(line for line in plan(JOBSET, after).splitlines() if "live resize" in line)
    assert "cpu request 2 -> 3; not before the sync passes" in resize


def test_a_refused_size_names_the_opt_in(plan) -> None:
    text = " ".join(plan(UNENROLLED, UNENROLLED.replace('cpu: "2"', 'cpu: "3"')).split())
    assert 'argocd-fluid.io/enabled: "true", then this is a live resize' in text


BOUNDED = """\
    argocd-fluid.io/policy: |
      %s
spec:
"""
REMARKS = {
    "above the maximum": ("cpu: {max: 4}", "cpu request is held at the policy's max, 4"),
    "below the minimum": ("cpu: {min: 8}", "cpu request is held at the policy's min, 8"),
    "within the bounds": ("cpu: {max: 9}", "cpu request 2 -> 5"),
}


@pytest.mark.parametrize(("policy", "remark"), REMARKS.values(), ids=REMARKS.keys())
def test_a_resize_that_the_policy_holds_says_so(policy, remark, plan) -> None:
    before = JOBSET.replace("spec:\n", BOUNDED % policy, 1)
    text = plan(before, before.replace('cpu: "2"', 'cpu: "5"'))
    [resize] = [line for line in text.splitlines() if "live resize    " in line]
    assert resize.endswith(remark)


EMPTY = {
    "nothing on either side": ((), "has manifests there (--path DIR names"),
    "nothing on the new side": (("old",), "generate fails, so nothing is pruned"),
}


@pytest.mark.parametrize(("filled", "problem"), EMPTY.values(), ids=EMPTY.keys())
def test_a_side_without_manifests_is_no_plan(filled, problem, tmp_path, capsysbinary) -> None:
    for side in ("old", "new"):
        (tmp_path / side).mkdir()
    for side in filled:
        (tmp_path / side / "all.yaml").write_text(JOBSET)
    assert main(["plan", str(tmp_path / "old"), str(tmp_path / "new")]) == 1
    said = capsysbinary.readouterr()
    assert said.out == b""
    assert problem in said.err.decode()


def test_a_size_that_is_only_recommended_is_held(plan) -> None:
    before = JOBSET.replace("spec:\n", BOUNDED % "mode: recommend", 1)
    [held] = [line for line in plan(before, before.replace('cpu: "2"', 'cpu: "5"')).splitlines()
              if " held  " in line]  # fmt: skip
    assert "mode is recommend" in held


def test_markdown_leaves_out_what_is_unchanged(plan) -> None:
    text = plan(JOBSET, JOBSET.replace('cpu: "2"', 'cpu: "3"'), "--format", "markdown")
    rows = [line for line in text.splitlines() if line.startswith("| JobSet")]
    assert rows[0] == ("| JobSet train | workers/trainer x6 | live resize | cpu request 2 -> 3 |")
    assert "unchanged |" not in text


def test_an_error_tells_its_side(tmp_path, capsysbinary) -> None:
    for side, text in (("old", JOBSET), ("new", JOBSET.replace('"true"', "true"))):
        (tmp_path / side).mkdir()
        (tmp_path / side / "all.yaml").write_text(text)
    assert main(["plan", str(tmp_path / "old"), str(tmp_path / "new")]) == 1
    assert f"{tmp_path}/new/all.yaml:6: JobSet train" in capsysbinary.readouterr().err.decode()


@pytest.fixture
def repository(tmp_path, monkeypatch):
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
        subprocess.run(
            ["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True
        )

    (tmp_path / "app").mkdir()
    git("init", "--object-format=sha256")
    for text in (JOBSET, JOBSET.replace('cpu: "2"', 'cpu: "3"')):
        (tmp_path / "app" / "all.yaml").write_text(text)
        git("add", ".")
        git("commit", "-m", "x")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("inside", [False, True], ids=["with --path", "in the directory"])
def test_revisions_are_compared(inside, repository, monkeypatch, capsysbinary) -> None:
    if inside:
        monkeypatch.chdir(repository / "app")
    assert main(["plan", "HEAD~1", "HEAD", *([] if inside else ["--path", "app"])]) == 0
    assert "cpu request 2 -> 3" in capsysbinary.readouterr().out.decode()


def test_a_revision_is_compared_with_what_is_not_committed(repository, capsysbinary) -> None:
    (repository / "app" / "all.yaml").write_text(JOBSET.replace('cpu: "2"', 'cpu: "5"'))
    assert main(["plan", "HEAD", ".", "--path", "app"]) == 0
    assert "cpu request 3 -> 5" in capsysbinary.readouterr().out.decode()


REFUSED = {
    "no revision": (["nothing", "HEAD"], "'nothing' is neither a directory nor a revision"),
    "an option": (["HEAD", "--path", "app", "--", "--all"], "'--all' is neither"),
    "no such directory": (["HEAD", "HEAD", "--path", "x"], "HEAD has no directory 'x'"),
}


@pytest.mark.parametrize(("argv", "problem"), REFUSED.values(), ids=REFUSED.keys())
@pytest.mark.usefixtures("repository")
def test_a_side_that_is_not_there_is_told(argv, problem, capsysbinary) -> None:
    assert main(["plan", *argv]) == 1
    assert problem in capsysbinary.readouterr().err.decode()
