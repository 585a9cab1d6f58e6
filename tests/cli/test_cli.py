import json
import os
import subprocess
import sys

import pytest
from argocd_fluid import __version__
from argocd_fluid.cli import COMMANDS, main

HEAVY = (
    "kubernetes", "requests", "urllib3", "pydantic", "asyncio", "jinja2", "jsonpatch", "msgspec",
    # Only what renders with another program needs it.
    "subprocess",
    # Each takes as long as a small rendering; `manifests.plain` and `records` do without.
    "yaml", "dataclasses", "inspect",
)  # fmt: skip
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
            f"apiVersion: v1\nkind: Service\nmetadata:\n  name: é{index}\n"
            '  annotations: {argocd-fluid.io/enabled: "true"}\n'
        )
    monkeypatch.chdir(tmp_path)

    assert main(["generate"]) == 1
    done = capfdbinary.readouterr()
    lines = done.err.decode().splitlines()
    assert done.out == b""
    assert len(done.err) <= 2048
    assert lines[0].startswith("argocd-fluid: é000.yaml:5: Service é0: ")
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
        (tmp_path / f"{index}.yaml").write_text(MANIFEST.replace("name: a", f"name: a{index}"))
    command = f"{sys.executable} -m argocd_fluid generate | head -c 1"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=tmp_path,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == (b"-", b"")


BROKEN = """
import sys
import argocd_fluid.render.generate as generate
from argocd_fluid.cli import main

def broken(*_):
    raise KeyError("hunter2")

generate.enrolled = broken
sys.exit(main(["generate"]))
"""


def run_broken(folder, **environment):
    (folder / "a.yaml").write_text(MANIFEST)
    return subprocess.run(
        [sys.executable, "-c", BROKEN],
        cwd=folder,
        env={"PYTHONPATH": ":".join(sys.path), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_mistake_of_ours_is_one_line_that_names_its_place(tmp_path) -> None:
    done = run_broken(tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(
        f"argocd-fluid: this is a bug in argocd-fluid {__version__}, please report it: "
        "KeyError at render/generate.py:"
    )
    assert "hunter2" not in line


def test_a_developer_gets_the_traceback(tmp_path) -> None:
    done = run_broken(tmp_path, ARGOCD_FLUID_DEBUG="1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[0].startswith("argocd-fluid: this is a bug")
    assert "Traceback (most recent call last)" in done.stderr
    assert "KeyError: 'hunter2'" in done.stderr


def test_a_user_s_mistake_has_its_traceback_too_where_it_is_asked_for(tmp_path) -> None:
    (tmp_path / "b.yaml").write_text("kind: X\n")
    done = run_broken(tmp_path, ARGOCD_FLUID_DEBUG="1")
    assert "b.yaml:1: X: is no Kubernetes object" in done.stderr.splitlines()[0]
    assert "ManifestError" in done.stderr


@pytest.mark.parametrize(
    ("secrets", "shown"),
    [
        ({"TOKEN": "s3\"cr'3\nt\\x"}, "[ARGOCD_ENV_TOKEN]"),
        ({"A": "abcdef", "B": "abcdefREST99"}, "[ARGOCD_ENV_B]"),
        ({"B": "abcdefREST99", "A": "abcdef"}, "[ARGOCD_ENV_B]"),
    ],
    ids=["quoted", "shorter first", "longer first"],
)
def test_no_form_of_a_secret_is_shown(secrets, shown, tmp_path, monkeypatch, capsys) -> None:
    [secret] = [value for value in secrets.values() if value == max(secrets.values(), key=len)]
    text = json.dumps({"kind": secret, secret: 1})[:-1] + "," + json.dumps(secret) + ":2}"
    (tmp_path / "a.json").write_text(text)
    monkeypatch.chdir(tmp_path)
    for name, value in secrets.items():
        monkeypatch.setenv(f"ARGOCD_ENV_{name}", value)

    assert main(["generate"]) == 1
    said = capsys.readouterr().err
    assert shown in said
    assert not [part for part in ("REST99", "cr'3", "s3") if part in said]


def test_blanks_are_no_secret(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("ARGOCD_ENV_A", " " * 20)
    monkeypatch.chdir(tmp_path)
    assert main(["generate"]) == 1
    assert "ARGOCD_ENV_A" not in capsys.readouterr().err


def test_a_file_name_that_is_no_utf_8_is_no_traceback(tmp_path) -> None:
    (tmp_path / os.fsdecode(b"x\xff.yaml")).write_text("a: 1\n")
    command = [sys.executable, "-m", "argocd_fluid", "lint"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert "x?.yaml" in ended.stdout
