"""The Application's own policy: stronger than `fluid.yaml`, weaker than the workload's."""

import json

import pytest
from argocd_fluid.cli import main

JOBSET = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: train
  annotations:
    argocd-fluid.io/enabled: "true"
    argocd-fluid.io/policy: |
      priority: 3
spec:
  replicatedJobs:
  - name: workers
    template: {spec: {template: {spec: {containers: [
      {name: trainer, image: i, resources: {requests: {cpu: "1"}}}]}}}}
"""
POLICY = """
apiVersion: argocd-fluid.io/v1alpha1
kind: FluidPolicy
spec:
  mode: recommend
  priority: 1
  cpu: {max: "2", target: 0.5}
"""


def parameter(text: str) -> dict:
    return {"name": "policy", "string": text}


def test_it_stands_between_the_file_and_the_annotation(generate, write) -> None:
    write({"a.yaml": JOBSET, "fluid.yaml": POLICY})
    [rendered] = generate(parameter("priority: 2\ncpu: {max: '3'}\n")).objects
    intent = json.loads(rendered["metadata"]["annotations"]["argocd-fluid.io/intent"])
    policy = intent["roles"]["workers"]["trainer"]["policy"]
    assert policy["mode"] == "recommend"
    assert (policy["cpu"]["max"], policy["cpu"]["target"]) == ("3", 0.5)
    assert policy["priority"] == 3


REFUSED = {
    "unknown": ("prority: 1", "parameter policy: prority: is no key that is known here"),
    "rules": ("rules: []", "parameter policy: rules: is no key that is known here"),
    "a list": ("- a", "parameter policy: "),
    "no YAML": ("{", "parameter policy: line 2: is no YAML"),
    "wrong": ("cpu: {target: 2}", "parameter policy: cpu.target: "),
}


@pytest.mark.parametrize(("text", "problem"), REFUSED.values(), ids=REFUSED.keys())
def test_a_wrong_one_is_told(text, problem, generate, write) -> None:
    write({"a.yaml": JOBSET})
    assert generate(parameter(text)).problem.startswith(problem)


def test_explain_names_it(write, monkeypatch, capsysbinary) -> None:
    folder = write({"a.yaml": JOBSET, "fluid.yaml": POLICY})
    monkeypatch.setenv("ARGOCD_APP_PARAMETERS", json.dumps([parameter("\ncpu: {max: '3'}")]))
    assert main(["explain", str(folder / "a.yaml")]) == 0
    assert "parameter policy:2" in capsysbinary.readouterr().out.decode()
