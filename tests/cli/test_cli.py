import subprocess
import sys

import pytest
from argocd_fluid import __version__
from argocd_fluid.cli import COMMANDS, main

HEAVY = ("kubernetes", "requests", "urllib3", "pydantic", "asyncio", "jinja2", "msgspec")
MANIFEST = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


def test_generate_imports_nothing_that_is_slow(tmp_path) -> None:
    (tmp_path / "a.yaml").write_text(MANIFEST)
    script = (
        "import sys; from argocd_fluid.cli import main; code = main(['generate']);"
        f"found = ','.join(m for m in {HEAVY!r} if m in sys.modules);"
        "sys.exit(code or found or None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == ('---\n{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}\n')


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_has_help(command, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command.name, "--help"])
    assert ended.value.code == 0
    assert f"argocd-fluid {command.name}" in capsys.readouterr().out


def test_the_version_is_told(capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"argocd-fluid {__version__}\n"


@pytest.mark.parametrize("argv", [[], ["unknown"], ["generate", "-o", "xml"]], ids=repr)
def test_a_wrong_command_line_is_no_traceback(argv, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(argv)
    assert ended.value.code == 2
    assert "usage: argocd-fluid" in capsys.readouterr().err


def test_many_problems_are_cut_at_what_argo_cd_can_show(tmp_path, monkeypatch, capfdbinary) -> None:
    for index in range(100):
        (tmp_path / f"é{index:03}.yaml").write_text(
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: é\n"
            '  annotations: {argocd-fluid.io/enabled: "true"}\n'
        )
    monkeypatch.chdir(tmp_path)

    assert main(["generate"]) == 1
    done = capfdbinary.readouterr()
    lines = done.err.decode().splitlines()
    assert done.out == b""
    assert len(done.err) <= 2048
    assert lines[0].startswith("argocd-fluid: é000.yaml:5: Service é: ")
    assert lines[-1] == "argocd-fluid: cut here, problems in all: 100"


def test_output_is_utf_8_in_any_locale(tmp_path) -> None:
    (tmp_path / "a.yaml").write_text(MANIFEST.replace("name: a", "name: ä"))
    done = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-m", "argocd_fluid", "generate"],
        cwd=tmp_path,
        env={"PYTHONIOENCODING": "ascii", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert '"name":"ä"'.encode() in done.stdout


def test_a_reader_that_goes_away_is_no_traceback(tmp_path) -> None:
    for index in range(3000):
        (tmp_path / f"{index}.yaml").write_text(MANIFEST)
    command = f"{sys.executable} -m argocd_fluid generate | head -c 1"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=tmp_path,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == (b"-", b"")
