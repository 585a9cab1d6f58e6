"""What the pages under docs/ show is what the commands print."""

import re
import shlex
from pathlib import Path

import pytest
from argocd_fluid.cli import COMMANDS, main
from argocd_fluid.render.parameters import PARAMETERS

ROOT = Path(__file__).parents[2]
SHOWN = [
    (page.name, command, output)
    for page in sorted((ROOT / "docs").glob("*.md"))
    for command, output in re.findall(
        r"```\n\$ argocd-fluid ((?:plan|lint|explain) [^\n]*)\n(.*?)```",
        page.read_text(),
        re.DOTALL,
    )
]


def test_each_command_of_a_developer_shows_an_example() -> None:
    assert {command.split()[0] for _, command, _ in SHOWN} == {"plan", "lint", "explain"}


@pytest.mark.parametrize(("page", "command", "output"), SHOWN, ids=[shown[1] for shown in SHOWN])
def test_the_example_is_what_comes_out(page, command, output, monkeypatch, capsysbinary) -> None:
    monkeypatch.chdir(ROOT)
    assert main(shlex.split(command)) == 0
    assert capsysbinary.readouterr().out.decode() == output, page


@pytest.mark.parametrize("name", ["generate", "parameters", "plan", "lint", "explain"])
def test_each_command_has_its_page(name) -> None:
    assert name in {command.name for command in COMMANDS}
    assert (ROOT / f"docs/{name}.md").read_text().startswith(f"# argocd-fluid {name}")


def test_every_parameter_is_documented() -> None:
    page = (ROOT / "docs/parameters.md").read_text()
    for parameter in PARAMETERS:
        assert f"| `{parameter.name}` | {parameter.form.value} |" in page
        assert parameter.tooltip in page
