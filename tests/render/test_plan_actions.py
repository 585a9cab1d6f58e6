"""What programs are told of a plan: one action per workload, the sizes of its containers."""

import json
from pathlib import Path

import pytest
from argocd_fluid.cli import main

GOLDEN = Path(__file__).parent / "golden"
HEAD = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: train
  namespace: research
  labels: {team: a}
  annotations:
    argocd-fluid.io/enabled: "true"
spec:
  replicatedJobs:
  - name: workers
    replicas: 2
    template:
      spec:
        template:
          spec:
"""
JOBSET = f"""\
{HEAD}\
            initContainers:
            - name: fetch
              image: fetch:1
              resources: {{requests: {{cpu: 1, memory: 1Gi}}, limits: {{cpu: 1, memory: 1Gi}}}}
            containers:
            - name: trainer
              image: trainer:1
              resources:
                requests: {{cpu: "2", memory: 4Gi}}
                limits: {{cpu: "2", memory: 4Gi}}
"""
TRAINER = JOBSET[JOBSET.index("                requests") :]


def sized(text: str) -> str:
    return JOBSET.replace(TRAINER, text)


@pytest.fixture
def planned(tmp_path, capsysbinary):
    def run(before: str, after: str, *options: str) -> tuple[int, str]:
        for side, text in (("old", before), ("new", after)):
            (tmp_path / side).mkdir()
            (tmp_path / side / "all.yaml").write_text(text)
        code = main(["plan", str(tmp_path / "old"), str(tmp_path / "new"), *options])
        return code, capsysbinary.readouterr().out.decode()

    return run


@pytest.fixture
def workload(planned):
    def run(before: str, after: str) -> dict:
        code, text = planned(before, after, "--format", "json")
        assert code == 0
        [only] = json.loads(text)["workloads"]
        return only

    return run


def test_a_resize_has_both_sizes_of_each_container(workload) -> None:
    found = workload(JOBSET, sized(TRAINER.replace('cpu: "2"', 'cpu: "3"')))
    policy = found["containers"].pop()
    assert policy["action"] == "metadata"
    assert found == {
        "kind": "JobSet",
        "namespace": "research",
        "name": "train",
        "action": "resize",
        "reason": "workers/trainer x2: cpu 2 -> 3",
        "containers": [
            {
                "role": "workers",
                "name": "trainer",
                "pods": 2,
                "action": "resize",
                "from": {
                    "requests": {"cpu": "2", "memory": "4Gi"},
                    "limits": {"cpu": "2", "memory": "4Gi"},
                },
                "to": {
                    "requests": {"cpu": "3", "memory": "4Gi"},
                    "limits": {"cpu": "3", "memory": "4Gi"},
                },
                "reason": "cpu 2 -> 3",
            }
        ],
    }


def test_a_change_of_the_qos_class_lands_with_a_new_run(workload) -> None:
    loose = TRAINER.replace('requests: {cpu: "2"', 'requests: {cpu: "1"')
    found = workload(JOBSET, sized(loose))
    assert found["action"] == "new-run"
    assert "the API refuses a resize that makes a Guaranteed pod a Burstable one" in found["reason"]
    assert "lands with a new run" in found["reason"]


def test_one_loose_container_makes_the_other_s_equal_amounts_no_change_of_class(workload) -> None:
    side = """\
            - name: metrics
              image: metrics:1
              resources: {requests: {cpu: 100m}}
"""
    before = JOBSET + side
    found = workload(
        before,
        before.replace('requests: {cpu: "2", memory: 4Gi}', 'requests: {cpu: "1", memory: 4Gi}'),
    )
    assert (found["action"], found["reason"]) == (
        "resize",
        "workers/trainer x2: cpu request 2 -> 1",
    )


def test_containers_that_change_the_class_only_together_are_told(workload) -> None:
    loose = """\
                requests: {cpu: "1", memory: 4Gi}
                limits: {cpu: "2", memory: 4Gi}
            - name: second
              image: second:1
              resources:
                requests: {cpu: "1", memory: 4Gi}
                limits: {cpu: "2", memory: 4Gi}
"""
    found = workload(sized(loose), sized(loose.replace('cpu: "1"', 'cpu: "2"')))
    assert found["action"] == "new-run"
    assert [each["name"] for each in found["containers"] if each["action"] == "new-run"] == [
        "trainer",
        "second",
    ]


def test_a_plain_init_container_lands_with_a_new_run(workload) -> None:
    found = workload(JOBSET, JOBSET.replace("1Gi", "2Gi"))
    assert found["action"] == "new-run"
    assert "no resize reaches an init container: lands with a new run" in found["reason"]


def test_the_size_of_a_pod_is_immutable(workload) -> None:
    pod = "            resources: {requests: {cpu: %d}}\n            containers:\n"
    before, after = (JOBSET.replace("            containers:\n", pod % cpu) for cpu in (8, 9))
    found = workload(before, after)
    assert found["action"] == "new-run"
    assert "spec.resources.requests.cpu 8 -> 9" in found["reason"]


ACTIONS = {
    "nothing": (JOBSET, "unchanged", ""),
    "a label": (JOBSET.replace("team: a", "team: b"), "metadata", "metadata.labels.team a -> b"),
    "suspending": (
        JOBSET.replace("spec:\n  repl", "spec:\n  suspend: true\n  repl"),
        "metadata",
        "spec.suspend absent -> True",
    ),
    "leaving keeps the defaults that Git lacks": (
        JOBSET.replace('"true"', '"false"'),
        "metadata",
        "kubectl get jobset train -n research -o yaml shows them",
    ),
    "leaving without a word drops defaults that Git lacks": (
        JOBSET.replace('argocd-fluid.io/enabled: "true"', "other: a"),
        "new-run",
        "completionMode Indexed -> absent",
    ),
    "pausing": (
        JOBSET.replace('"true"\n', '"true"\n    argocd-fluid.io/paused: "true"\n'),
        "metadata",
        "no more resizes until the pause ends",
    ),
    "a size while paused": (
        sized(TRAINER.replace('"2"', '"3"')).replace(
            '"true"\n', '"true"\n    argocd-fluid.io/paused: "true"\n'
        ),
        "metadata",
        "cpu 2 -> 3; the JobSet is paused",
    ),
    "mode off": (
        JOBSET.replace('"true"\n', '"true"\n    argocd-fluid.io/policy: "mode: off"\n'),
        "metadata",
        "mode auto -> off; no more resizes: running pods keep their sizes",
    ),
    "a bound above what Git asks for": (
        JOBSET.replace('"true"\n', '"true"\n    argocd-fluid.io/policy: "cpu: {min: 3}"\n'),
        "metadata",
        "the cpu request is held at the policy's min, 3",
    ),
    "a policy": (
        JOBSET.replace('"true"\n', '"true"\n    argocd-fluid.io/policy: "cpu: {max: 9}"\n'),
        "metadata",
        "cpu.max 8 -> 9",
    ),
    "an image": (JOBSET.replace("trainer:1", "trainer:2"), "new-run", "trainer:1 -> trainer:2"),
    "gpus": (
        sized(TRAINER.replace("limits: {", "limits: {nvidia.com/gpu: 1, ")),
        "new-run",
        "nvidia.com/gpu",
    ),
}


@pytest.mark.parametrize(("after", "action", "reason"), ACTIONS.values(), ids=ACTIONS.keys())
def test_says_what_happens_to_a_workload(after, action, reason, workload) -> None:
    found = workload(JOBSET, after)
    assert found["action"] == action
    assert reason in found["reason"]


def test_leaving_without_a_word_says_what_git_must_spell_out(planned) -> None:
    after = JOBSET.replace('argocd-fluid.io/enabled: "true"', "other: a")
    told = " ".join(planned(JOBSET, after)[1].split())
    assert 'set argocd-fluid.io/enabled: "false" instead of removing it' in told
    assert "Git must spell out completionMode: Indexed and restartPolicy: OnFailure" in told


def test_the_first_opt_in_of_a_live_jobset_changes_no_default(planned) -> None:
    before = JOBSET.replace('argocd-fluid.io/enabled: "true"', "other: a")
    code, text = planned(before, JOBSET, "--fail-on", "immutable")
    assert code == 0
    assert "enrolled" in text
    assert "sync fails" not in text


def test_no_line_is_too_long_for_a_terminal(planned) -> None:
    after = JOBSET.replace("trainer:1", "trainer:2").replace('cpu: "2"', 'cpu: "3"')
    text = planned(JOBSET, after.replace('"true"', '"false"'))[1]
    assert max(map(len, text.splitlines())) <= 120


def test_markdown_lists_what_its_head_counts(planned) -> None:
    after = sized(TRAINER.replace('"2"', '"3"'))
    head, _, *table = planned(JOBSET, after, "--format", "markdown")[1].splitlines()
    assert head == "Plan: 1 live resize, 1 policy. Not listed: 1 unchanged."
    assert len(table) == 4


def test_leaving_is_metadata_where_git_has_the_defaults(workload) -> None:
    before = JOBSET.replace(
        "        template:\n", "        completionMode: Indexed\n        template:\n"
    ).replace("          spec:\n", "          spec:\n            restartPolicy: OnFailure\n")
    found = workload(before, before.replace('"true"', '"false"'))
    assert found["action"] == "metadata"
    assert "running pods keep their sizes" in found["reason"]


def test_a_new_workload_tells_the_bound_that_holds_its_size(planned) -> None:
    policy = '"true"\n    argocd-fluid.io/policy: "cpu: {min: 3}"\n'
    after = JOBSET.replace("name: train\n", "name: other\n").replace('"true"\n', policy)
    text = planned(JOBSET, after)[1]
    assert "trainer: the cpu request is held at the policy's min, 3" in text


def test_what_comes_and_goes(planned) -> None:
    _, text = planned(JOBSET, JOBSET.replace("name: train\n", "name: other\n"), "--format", "json")
    found = json.loads(text)["workloads"]
    assert [(each["name"], each["action"]) for each in found] == [
        ("other", "create"),
        ("train", "delete"),
    ]


OTHER_IMAGE = {
    "kind-job": "new-run",
    "kind-cronjob": "new-run",
    "kind-deployment": "rollout",
    "kind-statefulset": "rollout",
    "kind-daemonset": "rollout",
    "kind-replicaset": "new-run",
    # The one field of a pod's containers that may change: they restart.
    "kind-pod": "rollout",
    "kind-leaderworkerset": "rollout",
    "kind-leaderworkerset-one-template": "rollout",
    "kind-raycluster": "new-run",
    "kind-rayjob": "new-run",
    "kind-pytorchjob": "new-run",
    "kind-mpijob": "new-run",
    "kind-mpijob-v1": "new-run",
    "kind-volcano-job": "new-run",
    "kind-rollout": "rollout",
}
REFUSED = {"kind-job", "kind-volcano-job"}


@pytest.mark.parametrize("case", OTHER_IMAGE)
def test_another_image_does_what_the_kind_does_with_it(case, planned) -> None:
    before = (GOLDEN / case / "in" / "all.yaml").read_text()
    options = ("--format", "json", "--fail-on", "immutable")
    code, text = planned(before, before.replace(":1\n", ":2\n"), *options)
    [found] = json.loads(text)["workloads"]
    assert found["action"] == OTHER_IMAGE[case]
    assert code == (3 if case in REFUSED else 0)


def test_every_kind_with_an_image_is_tested() -> None:
    kinds = {folder.name for folder in GOLDEN.glob("kind-*")}
    assert kinds - OTHER_IMAGE.keys() == {"kind-trainjob"}


def test_another_size_of_a_trainer_lands_with_a_new_run(planned) -> None:
    before = (GOLDEN / "kind-trainjob" / "in" / "all.yaml").read_text()
    _, text = planned(before, before.replace("8Gi", "9Gi"), "--format", "json")
    [found] = json.loads(text)["workloads"]
    assert found["action"] == "new-run"


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_an_immutable_change_fails_where_that_is_asked_for(form, planned) -> None:
    after = JOBSET.replace("trainer:1", "trainer:2")
    code, text = planned(JOBSET, after, "--fail-on", "immutable", "--format", form)
    assert code == 3
    assert "trainer:1 -> trainer:2" in text


def test_a_resize_fails_nothing(planned) -> None:
    after = sized(TRAINER.replace('"2"', '"3"'))
    assert planned(JOBSET, after, "--fail-on", "immutable")[0] == 0


def test_objects_without_pods_are_no_workloads(planned) -> None:
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: '%d'}\n"
    code, text = planned(config % 1, config % 2, "--format", "json")
    assert (code, json.loads(text)) == (0, {"workloads": []})


def test_markdown_survives_what_objects_hold(planned) -> None:
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: '%s'}\n"
    _, text = planned(config % "x", config % "a|b<script>", "--format", "markdown")
    assert "a\\|b&lt;script>" in text


SUSPENDED = JOBSET.replace("spec:\n  repl", "spec:\n  suspend: true\n  repl")
TAKEN = {
    "scheduling while suspended": (
        SUSPENDED,
        SUSPENDED.replace(
            "            containers:\n",
            "            nodeSelector: {a: b}\n            containers:\n",
        ),
        "new-run",
        0,
    ),
    "an image while suspended": (
        SUSPENDED,
        SUSPENDED.replace("trainer:1", "trainer:2"),
        "new-run",
        3,
    ),
    "a failure policy that comes": (
        JOBSET,
        JOBSET.replace("spec:\n  repl", "spec:\n  failurePolicy: {maxRestarts: 3}\n  repl"),
        "metadata",
        0,
    ),
    "a failure policy that changes": (
        JOBSET.replace("spec:\n  repl", "spec:\n  failurePolicy: {maxRestarts: 2}\n  repl"),
        JOBSET.replace("spec:\n  repl", "spec:\n  failurePolicy: {maxRestarts: 3}\n  repl"),
        "new-run",
        3,
    ),
}


@pytest.mark.parametrize(("before", "after", "action", "code"), TAKEN.values(), ids=TAKEN.keys())
def test_what_the_api_takes_of_a_live_jobset(before, after, action, code, planned) -> None:
    found = planned(before, after, "--format", "json", "--fail-on", "immutable")
    assert found[0] == code
    assert json.loads(found[1])["workloads"][0]["action"] == action


def test_a_size_rolls_where_the_live_template_does_not_keep_it(planned) -> None:
    before = (GOLDEN / "kind-deployment" / "in" / "all.yaml").read_text()
    _, text = planned(before, before.replace('cpu: "2"', 'cpu: "3"'), "--format", "json")
    assert json.loads(text)["workloads"][0]["action"] == "rollout"


def test_workers_of_a_group_are_found_by_its_name(planned) -> None:
    before = (GOLDEN / "kind-raycluster" / "in" / "all.yaml").read_text()
    _, text = planned(before, before.replace("ray-worker:1", "ray-worker:2"))
    assert "spec.workerGroupSpecs[small].template.spec.containers[ray-worker].image" in text
