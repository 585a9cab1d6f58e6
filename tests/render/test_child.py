"""Children are real processes; each test gives them a short time."""

import os
import sys
import time
from pathlib import Path

import pytest
from argocd_fluid.errors import PolicyError, RenderError
from argocd_fluid.render.budget import Budget, Surroundings
from argocd_fluid.render.child import STDERR_TAIL, Child, output, run

LIMIT_S = 0.5


@pytest.fixture
def surroundings() -> Surroundings:
    return Surroundings.of(dict(os.environ), clock=time.monotonic, timeout_s=20)


@pytest.fixture
def hurried() -> Surroundings:
    return Surroundings.of(dict(os.environ), clock=time.monotonic, timeout_s=LIMIT_S)


def python(program: str, folder: Path = Path(), **more) -> Child:
    argv = (sys.executable, "-I", "-c", program)
    return Child(name="the program", argv=argv, folder=folder, **more)


def test_what_it_prints_is_given(surroundings, tmp_path) -> None:
    child = python("import os; print(os.getcwd(), input())", tmp_path, stdin=b"said\n")
    assert output(child, surroundings) == f"{tmp_path} said\n".encode()


def test_its_environment_has_a_path_a_home_and_nothing_else(tmp_path) -> None:
    environment = {**os.environ, "ARGOCD_ENV_TOKEN": "hunter2", "KUBE_VERSION": "1.37"}
    surroundings = Surroundings.of(environment, clock=time.monotonic)
    seen = output(python("import os; print(sorted(os.environ))", tmp_path), surroundings)
    assert seen == b"['HOME', 'LC_ALL', 'PATH', 'TMPDIR']\n"


def test_its_home_is_its_own_and_gone_afterwards(surroundings, tmp_path) -> None:
    program = "import os; open(os.environ['HOME'] + '/x', 'w'); print(os.environ['HOME'])"
    home = output(python(program, tmp_path), surroundings).decode().strip()
    assert home not in ("", str(Path.home()))
    assert not Path(home).exists()


def test_no_shell_reads_its_words(surroundings, tmp_path) -> None:
    words = ("$HOME; touch x", "`id`", "*")
    argv = (sys.executable, "-I", "-c", "import sys; print(sys.argv[1:])", *words)
    child = Child(name="the program", argv=argv, folder=tmp_path)
    assert output(child, surroundings).decode().strip() == str(list(words))
    assert list(tmp_path.iterdir()) == []


def test_a_missing_program_is_told_with_what_helps(surroundings, tmp_path) -> None:
    child = Child(name="render", argv=("no-such-program",), folder=tmp_path, hint="install it")
    with pytest.raises(RenderError) as failed:
        output(child, surroundings)
    assert (
        str(failed.value) == "there is no program no-such-program to run render with (install it)"
    )


FAILURES = {
    "the last line": ("print('loading', file=e); print('Error: no chart', file=e)", "no chart"),
    "after noise": ("print('the reason', file=e); print('Usage: x', file=e)", "the reason"),
    "nothing": ("pass", "exit status 3, and it said nothing"),
    "no text": ("e.buffer.write(b'bad \\xff')", "bad �"),
}


@pytest.mark.parametrize(("program", "reason"), FAILURES.values(), ids=FAILURES.keys())
def test_a_failure_is_told_in_its_own_words(program, reason, surroundings, tmp_path) -> None:
    child = python(f"import sys; e = sys.stderr; {program}; sys.exit(3)", tmp_path)
    with pytest.raises(RenderError) as failed:
        output(child, surroundings)
    assert str(failed.value) == f"the program failed: {reason}"


def test_a_reason_is_short_and_without_the_machine_s_paths(surroundings, tmp_path) -> None:
    child = python(f"import sys; sys.exit('in {tmp_path}/a.yaml: ' + 'x' * 9_000)", tmp_path)
    with pytest.raises(RenderError) as failed:
        output(child, surroundings)
    assert str(failed.value).startswith("the program failed: in a.yaml: xxx")
    assert len(str(failed.value)) < 450


def test_one_that_is_killed_is_told(surroundings, tmp_path) -> None:
    with pytest.raises(RenderError, match="was ended by SIGKILL"):
        output(python("import os; os.kill(os.getpid(), 9)", tmp_path), surroundings)


TOO_LONG = {
    "sleeps": "import time; time.sleep(60)",
    "closes its outputs": "import os, time; os.close(1); os.close(2); time.sleep(60)",
    "ignores signals": "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)",
    "says something for ever": "import sys\nwhile True: sys.stderr.write('x' * 4096)",
}


@pytest.mark.parametrize("program", TOO_LONG.values(), ids=TOO_LONG.keys())
def test_one_that_takes_too_long_is_ended(program, hurried, tmp_path) -> None:
    started = time.monotonic()
    with pytest.raises(RenderError, match=r"the program took longer than the 0\.5 s"):
        output(python(program, tmp_path), hurried)
    assert time.monotonic() - started < LIMIT_S + 5


def test_one_that_prints_too_much_is_ended(surroundings, tmp_path) -> None:
    program = "import sys\nwhile True: sys.stdout.write('x' * 4096)"
    with pytest.raises(RenderError, match="printed more than 1 MiB"):
        output(python(program, tmp_path, max_output=1 << 20), surroundings)


def test_of_what_it_says_only_the_end_is_kept(surroundings, tmp_path) -> None:
    program = "import sys; sys.stderr.write('x' * 3_000_000 + 'the end')"
    outcome = run(python(program, tmp_path), surroundings)
    assert len(outcome.stderr) == STDERR_TAIL
    assert outcome.stderr.endswith("the end")


GRANDCHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-I", "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
{then}
"""


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def ended(pid: int) -> bool:
    deadline = time.monotonic() + 5
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_running(pid)


def test_what_it_started_is_not_waited_for_and_ends_with_it(surroundings, tmp_path) -> None:
    started = time.monotonic()
    printed = output(python(GRANDCHILD.format(then=""), tmp_path), surroundings)
    assert time.monotonic() - started < 15
    assert ended(int(printed))


def test_what_a_late_one_started_ends_with_it(tmp_path) -> None:
    hurried = Surroundings.of(dict(os.environ), clock=time.monotonic, timeout_s=2)
    outcome = run(python(GRANDCHILD.format(then="time.sleep(60)"), tmp_path), hurried)
    assert outcome.end == "too long"
    assert ended(int(outcome.stdout))


def test_without_time_nothing_is_started(tmp_path) -> None:
    now = iter([0.0, 10.0, 10.0])
    surroundings = Surroundings.of(dict(os.environ), clock=lambda: next(now), timeout_s=5)
    with pytest.raises(RenderError, match="took longer than the 5 s"):
        run(python("open('x', 'w')", tmp_path), surroundings)
    assert list(tmp_path.iterdir()) == []


def test_time_is_what_is_left_of_the_whole() -> None:
    now = [100.0]
    surroundings = Surroundings.of({}, clock=lambda: now[0])
    assert surroundings.budget.left() == 45
    now[0] += 40
    assert surroundings.budget.left() == 5
    now[0] += 40
    assert surroundings.budget.left() == 0


TIMEOUTS = {
    "default": ({}, None, 45),
    "empty": ({"ARGOCD_FLUID_TIMEOUT": ""}, None, 45),
    "administrator": ({"ARGOCD_FLUID_TIMEOUT": "1m"}, None, 60),
    "application": ({"ARGOCD_FLUID_TIMEOUT": "1m"}, 10.0, 10),
}


@pytest.mark.parametrize(("environment", "given", "seconds"), TIMEOUTS.values(), ids=TIMEOUTS)
def test_who_sets_the_time(environment, given, seconds) -> None:
    surroundings = Surroundings.of(environment, clock=lambda: 0.0, timeout_s=given)
    assert surroundings.budget == Budget(
        seconds=seconds, clock=surroundings.budget.clock, started=0.0
    )


@pytest.mark.parametrize("text", ["soon", "45", "-1s", "0"])
def test_a_wrong_time_is_told(text) -> None:
    with pytest.raises(PolicyError, match="ARGOCD_FLUID_TIMEOUT: is no duration above zero"):
        Surroundings.of({"ARGOCD_FLUID_TIMEOUT": text}, clock=lambda: 0.0)
