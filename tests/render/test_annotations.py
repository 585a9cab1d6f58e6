"""Annotations of ours: a misspelt key or value is told, at its place."""

import pytest
from argocd_fluid.errors import UserError
from argocd_fluid.manifests.reader import read
from argocd_fluid.render.enrol import enrolled
from argocd_fluid.render.identities import check_identities
from argocd_fluid.render.policies import Policies

HEAD = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata:\n  name: train\n"


def annotated(line):
    [document] = read(f"{HEAD}  annotations:\n    {line}\n".encode(), "a.yaml")
    return document


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('argocd-fluid.io/paused: "yes"', '\'yes\' is neither "true" nor "false"'),
        ('argocd-fluid.io/enabled: "True"', '\'True\' is neither "true" nor "false"'),
        ('jobset.kubernetes.io/fluid-restart: "1"', "'1' is neither"),
        ("argocd-fluid.io/paused: yes", "True is neither"),
        (
            "argocd-fluid.io/health-running: progressing",
            '\'progressing\' is neither "Progressing" nor "Healthy"',
        ),
        ('argocd-fluid.io/pasued: "true"', "did you mean argocd-fluid.io/paused?"),
        ('argocd-fluid.io/xyz: "true"', "is no annotation that is known here"),
    ],
)
def test_a_slip_is_told(line, problem):
    with pytest.raises(UserError) as caught:
        enrolled(annotated(line), Policies())
    key = line.split(":")[0]
    place = f"a.yaml:6: JobSet train: metadata.annotations[{key}]: "
    assert str(caught.value).startswith(place)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        'argocd-fluid.io/paused: "true"',
        'argocd-fluid.io/enabled: "false"',
        "argocd-fluid.io/health-running: Healthy",
        "argocd-fluid.io/restart-requested: '2026-01-01'",
        "argocd-fluid.io/intent: '{}'",
        "other.example.com/paused: 'yes'",
    ],
)
def test_what_is_known_passes(line):
    document = annotated(line)
    assert enrolled(document, Policies()) == document.value


@pytest.mark.parametrize(("value", "quoted"), [("yes", "true"), ("5", "5"), ("off", "false")])
def test_a_value_that_yaml_makes_no_text_is_one_clear_line(value, quoted):
    with pytest.raises(ExceptionGroup) as caught:
        check_identities([annotated(f"argocd-fluid.io/paused: {value}")], "")
    [error] = caught.value.exceptions
    assert str(error).endswith(f'[argocd-fluid.io/paused]: is no text (quote it: "{quoted}")')


def test_ranks_without_identity_are_refused_unless_they_are_not_resized():
    text = f"""\
{HEAD}  annotations:
    argocd-fluid.io/enabled: "true"
    argocd-fluid.io/policy: "rules: [{{match: {{role: %s}}, mode: off}}]"
spec:
  replicatedJobs:
  - name: workers
    template:
      spec:
        completionMode: NonIndexed
        template: {{spec: {{containers: [{{name: a, resources: {{limits: {{cpu: 1}}}}}}]}}}}
"""
    [resized], [left] = (read((text % role).encode(), "a.yaml") for role in ("driver", "workers"))
    with pytest.raises(UserError, match=r"a.yaml:13: .*completionMode: .*\(use Indexed, or"):
        enrolled(resized, Policies())
    assert enrolled(left, Policies())["spec"] != {}
