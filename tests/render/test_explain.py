from pathlib import Path

import pytest
from argocd_fluid.cli import main

EXAMPLE = Path(__file__).parents[2] / "examples/after/jobset.yaml"
JOBSET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: train
  annotations:
    argocd-fluid.io/enabled: "true"
    argocd-fluid.io/policy: |
      priority: 3
      rules:
      - match: {container: trainer}
        memory: {target: 0.6}
spec:
  replicatedJobs:
  - name: workers
    template:
      spec:
        template:
          spec:
            containers:
            - name: trainer
              resources:
                limits: {cpu: "2"}
                requests:
                  memory: 1Gi
"""
POLICY = """\
apiVersion: argocd-fluid.io/v1alpha1
kind: FluidPolicy
spec:
  mode: recommend
  rules:
  - match: {name: other}
    priority: 9
  - match: {kind: JobSet}
    priority: 1
    cpu:
      max: "8"
"""


@pytest.fixture
def explain(tmp_path, capsysbinary):
    (tmp_path / "train.yaml").write_text(JOBSET)
    (tmp_path / "fluid.yaml").write_text(POLICY)

    def run(*arguments: str) -> dict[str, tuple[str, str]]:
        assert main(["explain", str(tmp_path / "train.yaml"), *arguments]) == 0
        lines = capsysbinary.readouterr().out.decode().splitlines()
        rows = [line.split(maxsplit=2) for line in lines[2:]]
        return {name: (value, source) for name, value, source in rows}

    return run


@pytest.mark.parametrize(
    ("name", "value", "source"),
    [
        ("enrolled", "true", "train.yaml:6 annotation argocd-fluid.io/enabled"),
        ("limits.cpu", "2", "train.yaml:22 resources.limits.cpu"),
        ("requests.cpu", "2", "train.yaml:22 the limit, for there is no request"),
        ("requests.memory", "1Gi", "train.yaml:24 resources.requests.memory"),
        ("mode", "recommend", "fluid.yaml:4 spec"),
        ("cpu.max", "8", "fluid.yaml:11 rule 2"),
        ("cpu.min", "500m", "default: a quarter of Git's request 2, within max"),
        ("memory.max", "4Gi", "default: 4 times Git's request 1Gi"),
        ("memory.target", "0.6", "train.yaml:11 policy annotation, rule 1"),
        ("priority", "3", "train.yaml:8 policy annotation"),
        ("cpu.target", "0.65", "default"),
    ],
)
def test_every_number_has_its_source(explain, name, value, source) -> None:
    assert explain()[name] == (value, source)


def test_a_rule_that_enrols_is_named(tmp_path, explain) -> None:
    without = JOBSET.replace('    argocd-fluid.io/enabled: "true"\n', "")
    (tmp_path / "train.yaml").write_text(without)
    assert explain()["enrolled"] == ("true", "fluid.yaml:8 rule 2")


def test_one_container_can_be_chosen(capsysbinary) -> None:
    assert main(["explain", str(EXAMPLE), "--container", "metrics"]) == 0
    heads = [
        line for line in capsysbinary.readouterr().out.decode().splitlines() if line[:1] != " "
    ]
    assert heads == ["JobSet research/llama, role workers, container metrics"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["not-there.yaml"], "not-there.yaml is no file"),
        ([str(EXAMPLE), "--container", "none"], "has no enrolled container none"),
        ([str(EXAMPLE.with_name("service.yaml"))], "has no enrolled container"),
    ],
)
def test_what_cannot_be_explained_is_one_line(arguments, problem, capsysbinary) -> None:
    assert main(["explain", *arguments]) == 1
    done = capsysbinary.readouterr()
    assert done.out == b""
    assert problem in done.err.decode()
    assert done.err.count(b"\n") == 1
