import json
import re
from pathlib import Path

import pytest
from argocd_fluid.cli import main
from argocd_fluid.render.rules.table import RULES, Level, as_markdown

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
SIZES = "{requests: {cpu: '1', memory: 1Gi}, limits: {cpu: '1', memory: 1Gi}}"
BOUNDS = "cpu: {min: '1', max: '2'}\nmemory: {min: 1Gi, max: 2Gi}\n"


def jobset(
    *, annotations="", spec="", job="", pod="", container=f"resources: {SIZES}", policy=BOUNDS
):
    """Give a JobSet without findings, but for what is asked for."""
    indented = "".join(f"      {line}\n" for line in policy.splitlines())
    return (
        "apiVersion: jobset.x-k8s.io/v1alpha2\n"
        "kind: JobSet\n"
        "metadata:\n"
        "  name: train\n"
        "  annotations:\n"
        '    argocd-fluid.io/enabled: "true"\n'
        f"    argocd-fluid.io/policy: |\n{indented}"
        f"    {annotations}\n"
        "spec:\n"
        f"  {spec}\n"
        "  replicatedJobs:\n"
        "  - name: workers\n"
        "    template:\n"
        "      spec:\n"
        f"        {job}\n"
        "        template:\n"
        "          spec:\n"
        f"            {pod}\n"
        "            containers:\n"
        "            - name: trainer\n"
        "              image: example.com/trainer:1.0\n"
        f"              {container}\n"
    )


OTHER = (
    "            - {name: other, image: 'a:1', resources: {requests: {cpu: 1, memory: 1Gi}, %s}}\n"
)
POD = "apiVersion: v1\nkind: Pod\nmetadata: {%s}\nspec:\n  containers:\n  - {name: a, %s}\n"
CASES = {
    "FW101": [jobset(spec="ttlSecondsAfterFinished: 60")],
    "FW102": [
        jobset(annotations="argocd.argoproj.io/sync-options: Prune=false,Replace=true"),
        jobset(annotations="argocd.argoproj.io/sync-options: 'Force=true'"),
    ],
    "FW103": [jobset(job="backoffLimit: 0")],
    "FW104": [
        POD % ("name: a", "resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]")
    ],
    "FW105": [jobset() + "            - {name: other, image: 'a:1'}\n"],
    "FW106": [jobset() + OTHER % "limits: {memory: 1Gi}"],
    "FW107": [
        POD % ("name: a", "image: 'example.com:5000/a'"),
        POD % ("name: a", "image: 'a:latest'"),
        jobset(pod="initContainers: [{name: init, image: a}]"),
    ],
    "FW108": [POD % ("generateName: a-", "image: 'a:1'")],
    "FW109": [jobset(policy="priority: 1\n")],
    "FW110": [jobset(policy=BOUNDS.replace("max: 2Gi", "max: 1100Mi"))],
    "FW111": [jobset(policy=BOUNDS.replace("min: 1Gi", "min: 1500Mi"))],
    "FW112": [
        jobset(container="resources: {requests: {cpu: '1', memory: 1Gi}, limits: {cpu: '1'}}")
    ],
    "FW113": [jobset(annotations='jobset.kubernetes.io/fluid-restart: "true"')],
    "FW114": [
        POD
        % (
            'name: a, annotations: {argocd-fluid.io/enabled: "true"}',
            f"image: 'a:1', resources: {SIZES}",
        )
    ],
    "FW115": [
        jobset(pod=f"initContainers: [{{name: init, image: 'a:1', resources: {SIZES}}}]"),
    ],
}
CLEAN = {
    "a JobSet with bounds": jobset(),
    "a hook may delete itself": jobset(
        spec="ttlSecondsAfterFinished: 60", annotations="argocd.argoproj.io/hook: PreSync"
    ),
    "a hook may have a generated name": POD
    % ("generateName: a-, annotations: {argocd.argoproj.io/hook: Sync}", "image: 'a:1'"),
    "a digest is a fixed image": POD % ("name: a", "image: 'a@sha256:1234'"),
    "sync options that do no harm": jobset(
        annotations="argocd.argoproj.io/sync-options: ServerSideApply=true, Replace=false"
    ),
    "what is not enrolled needs no bounds": POD % ("name: a", "image: 'a:1'"),
}


@pytest.fixture
def lint(tmp_path, capsysbinary):
    def run(text: str, *flags: str) -> tuple[int, str]:
        (tmp_path / "train.yaml").write_text(text)
        code = main(["lint", str(tmp_path), *flags])
        return code, capsysbinary.readouterr().out.decode()

    return run


def found(output: str) -> list[dict]:
    return json.loads(output)["findings"]


@pytest.mark.parametrize(
    ("rule", "text"),
    [(rule, text) for rule, texts in CASES.items() for text in texts],
    ids=[f"{rule}-{index}" for rule, texts in CASES.items() for index, _ in enumerate(texts)],
)
def test_each_rule_finds_what_it_is_for(rule, text, lint) -> None:
    code, output = lint(text, "--format", "json")
    hits = [finding for finding in found(output) if finding["id"] == rule]
    assert (code, len(hits)) == (0, 1), output
    assert hits[0]["file"].endswith("/train.yaml")
    assert hits[0]["line"] > 1
    assert hits[0]["object"].startswith(("JobSet train", "Pod a"))
    assert all(hits[0][key] for key in ("field", "problem", "remedy"))


IDLE = {
    "rules: [{match: {name: other}, priority: 1}]": ("FW116", "spec.rules[0].match"),
    "jsonPatches: [{match: {kind: Service}, patch: []}]": ("FW117", "spec.jsonPatches[0].match"),
}


@pytest.mark.parametrize(
    ("spec", "expected"), IDLE.items(), ids=[rule for rule, _ in IDLE.values()]
)
def test_what_is_for_nothing_in_the_directory_is_told(spec, expected, lint, tmp_path) -> None:
    head = "apiVersion: argocd-fluid.io/v1alpha1\nkind: FluidPolicy\nspec:\n"
    (tmp_path / "fluid.yaml").write_text(f"{head}  {spec}\n")
    code, output = lint(jobset(), "--format", "json")
    [finding] = found(output)
    assert code == 0
    assert (finding["id"], finding["field"]) == expected
    assert (finding["file"], finding["line"]) == (f"{tmp_path}/fluid.yaml", 4)


@pytest.mark.parametrize("match", ["name: tr*", "kind: JobSet", "container: trainer"])
def test_a_rule_for_something_is_not_complained_about(match, lint, tmp_path) -> None:
    head = "apiVersion: argocd-fluid.io/v1alpha1\nkind: FluidPolicy\nspec:\n"
    (tmp_path / "fluid.yaml").write_text(f"{head}  rules: [{{match: {{{match}}}, priority: 1}}]\n")
    assert found(lint(jobset(), "--format", "json")[1]) == []


def test_every_warning_has_a_case() -> None:
    warnings = {rule.id for rule in RULES if rule.level is not Level.ERROR}
    assert set(CASES) | {rule for rule, _ in IDLE.values()} == warnings


@pytest.mark.parametrize("text", CLEAN.values(), ids=CLEAN.keys())
def test_what_is_right_is_not_complained_about(text, lint) -> None:
    assert lint(text, "--strict", "--format", "json") == (0, '{\n  "findings": []\n}\n')


REFUSED = sorted(file.parent.name for file in GOLDEN.glob("*/error.txt"))


@pytest.mark.parametrize("case", REFUSED)
def test_what_generate_refuses_is_an_error(case, capsysbinary, monkeypatch) -> None:
    monkeypatch.chdir(GOLDEN / case / "in")
    assert main(["generate"]) == 1
    refusal = capsysbinary.readouterr().err.decode().splitlines()
    assert main(["lint", "--format", "json"]) == 1
    errors = [
        each for each in found(capsysbinary.readouterr().out.decode()) if each["level"] == "error"
    ]
    assert len(errors) == len(refusal)
    for error in errors:
        assert any(error["problem"] in line and error["file"] in line for line in refusal)


def test_warnings_are_errors_when_asked(lint) -> None:
    text = jobset(job="backoffLimit: 0")
    assert lint(text)[0] == 0
    code, output = lint(text, "--strict", "--format", "json")
    assert code == 1
    assert [each["level"] for each in found(output)] == ["error"]


def test_a_note_is_no_error_even_then(lint) -> None:
    assert lint(CASES["FW113"][0], "--strict")[0] == 0


def test_a_path_that_is_not_there_is_a_wrong_command_line(capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["lint", "not/there"])
    assert ended.value.code == 2
    assert "there is no not/there" in capsys.readouterr().err


def test_one_file_is_checked_under_the_policy_beside_it(tmp_path, capsysbinary) -> None:
    (tmp_path / "a.yaml").write_text(jobset(policy="priority: 1\n"))
    (tmp_path / "b.yaml").write_text(CASES["FW108"][0])
    head = "apiVersion: argocd-fluid.io/v1alpha1\nkind: FluidPolicy\nspec:\n"
    bounds = "".join(f"  {line}\n" for line in BOUNDS.splitlines())
    (tmp_path / "fluid.yaml").write_text(head + bounds)
    assert main(["lint", str(tmp_path / "a.yaml"), "--format", "json"]) == 0
    assert found(capsysbinary.readouterr().out.decode()) == []


def test_text_leads_editors_to_the_line(lint, tmp_path) -> None:
    _, output = lint(jobset(job="backoffLimit: 0"))
    first, remedy, *_, summary = output.splitlines()
    assert re.match(
        rf"{tmp_path}/train\.yaml:\d+: JobSet train: spec\..*backoffLimit: warning: ", first
    )
    assert first.endswith("[FW103]")
    assert remedy == "  remedy: allow at least one retry"
    assert summary == "0 errors, 1 warning, 0 notes"


def test_github_s_commands_cannot_be_broken_out_of(lint) -> None:
    _, output = lint(jobset(container="image: 'a%b:latest'"), "--format", "github")
    for line in output.splitlines():
        assert re.fullmatch(r"::(error|warning|notice) file=[^:]+,line=\d+,title=[^:]+::.+", line)
    assert "%0A" not in output


def test_sarif_has_what_the_standard_requires(lint) -> None:
    _, output = lint(CASES["FW106"][0] + "---\n" + CASES["FW108"][0], "--format", "sarif")
    log = json.loads(output)
    assert (log["version"], [*log]) == ("2.1.0", ["$schema", "version", "runs"])
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "argocd-fluid"
    assert len({rule["id"] for rule in rules}) == len(RULES)
    assert run["results"]
    for result in run["results"]:
        assert result["message"]["text"]
        assert result["level"] in ("error", "warning", "note", "none")
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        (location,) = result["locations"]
        physical = location["physicalLocation"]
        assert physical["artifactLocation"]["uri"].endswith("train.yaml")
        assert physical["region"]["startLine"] >= 1


def test_ids_are_told_apart_and_errors_are_refusals() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    assert all(rule.check is None for rule in RULES if rule.level is Level.ERROR)
    assert all(re.fullmatch(r"FW\d{3}", rule.id) for rule in RULES)


def test_the_documentation_lists_the_rules_as_they_are() -> None:
    assert as_markdown() in (ROOT / "docs/lint.md").read_text()
