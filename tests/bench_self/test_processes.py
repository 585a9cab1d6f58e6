"""Components end when they should, and only they."""

import os
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tests.bench import guardian
from tests.bench.processes import DidNotStart, Supervisor, end_leftovers, free_port, leftovers


@pytest.fixture
def supervisor(tmp_path):
    supervisor = Supervisor(tmp_path)
    yield supervisor
    supervisor.stop_all()


def python(*lines):
    return [sys.executable, "-u", "-c", "\n".join(lines)]


SLEEP = ["sleep", "600"]
# A component that has children, and one that does not care to be asked.
PARENT = ["sh", "-c", "sleep 600 & echo $! > child; wait"]
STUBBORN = python(
    "import signal, time, pathlib",
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
    "pathlib.Path('deaf').touch()",
    "time.sleep(600)",
)


def is_alive(pid):
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def wait_until(condition, timeout_s=10):
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_component_is_started_when_it_is_ready(supervisor):
    port = free_port()

    def listens():
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True

    server = python(
        "import socket, time",
        "time.sleep(0.3)",
        f"server = socket.create_server(('127.0.0.1', {port}))",
        "time.sleep(600)",
    )
    process = supervisor.start("server", server, ready=listens)
    assert listens()
    assert supervisor.running() == (process,)


def test_a_component_that_dies_shows_its_last_words(supervisor):
    crash = python("raise SystemExit('no such flag: --typo')")
    with pytest.raises(DidNotStart, match=r"(?s)server exited with 1.*no such flag: --typo"):
        supervisor.start("server", crash, ready=lambda: False)
    assert supervisor.running() == ()


def test_a_component_that_is_not_ready_in_time_is_ended(supervisor, tmp_path):
    with pytest.raises(DidNotStart, match="not ready within 0 s"):
        supervisor.start("server", PARENT, ready=lambda: False, timeout_s=0.3, cwd=tmp_path)
    assert not is_alive(int((tmp_path / "child").read_text()))


def test_its_children_end_with_it(supervisor, tmp_path):
    child = tmp_path / "child"
    supervisor.start("server", PARENT, ready=lambda: bool(child.read_text()), cwd=tmp_path)
    supervisor.stop("server")
    wait_until(lambda: not is_alive(int(child.read_text())))


def test_one_that_ignores_the_request_is_killed(supervisor, tmp_path, monkeypatch):
    monkeypatch.setattr("tests.bench.processes._STOP_S", 0.2)
    ready = (tmp_path / "deaf").exists
    process = supervisor.start("server", STUBBORN, ready=ready, cwd=tmp_path)
    supervisor.stop("server")
    assert not process.is_alive()


def test_it_can_be_started_again_under_its_name(supervisor):
    first = supervisor.start("server", SLEEP, ready=lambda: True)
    with pytest.raises(RuntimeError, match="runs already"):
        supervisor.start("server", SLEEP, ready=lambda: True)
    supervisor.kill("server")
    second = supervisor.start("server", SLEEP, ready=lambda: True)
    assert not first.is_alive()
    assert second.is_alive()


def test_a_new_run_ends_what_a_killed_one_left(tmp_path):
    run = Supervisor(tmp_path)
    left = run.start("server", SLEEP, ready=lambda: True)
    assert leftovers(tmp_path) == {"server": left.pid}
    Supervisor(tmp_path)
    assert not left.is_alive()
    assert leftovers(tmp_path) == {}


def test_a_pid_that_belongs_to_somebody_else_now_is_left_alone(tmp_path):
    (tmp_path / "run").mkdir()
    stranger = subprocess.Popen(SLEEP, start_new_session=True)
    (tmp_path / "run" / "server.pid").write_text(f"{stranger.pid} 1")
    end_leftovers(tmp_path)
    assert stranger.poll() is None
    assert list((tmp_path / "run").iterdir()) == []
    stranger.kill()
    stranger.wait()


def test_the_guardian_ends_a_killed_runs_components_at_once(tmp_path):
    run = textwrap.dedent(f"""
        import os, pathlib, signal
        from tests.bench import guardian
        from tests.bench.processes import Supervisor

        folder = pathlib.Path({str(tmp_path)!r})
        guardian.start(folder)
        process = Supervisor(folder).start("server", ["sleep", "600"], ready=lambda: True)
        print(process.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    repository = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", run], cwd=repository, capture_output=True, text=True, check=False
    )
    assert done.returncode == -9, done.stderr
    wait_until(lambda: not is_alive(int(done.stdout)))
    wait_until(lambda: leftovers(tmp_path) == {} and not list((tmp_path / "run").iterdir()))


def test_a_dismissed_guardian_goes(tmp_path):
    watch = guardian.start(tmp_path)
    guardian.dismiss(watch)
    assert watch.returncode == 0


def test_environment_is_added_to_the_runs_own(supervisor, tmp_path):
    script = "echo $COLOUR $HOME > seen; sleep 600"
    seen = tmp_path / "seen"
    supervisor.start(
        "server",
        ["sh", "-c", script],
        env={"COLOUR": "red"},
        cwd=tmp_path,
        ready=lambda: seen.read_text().endswith("\n"),
    )
    assert seen.read_text().split() == ["red", os.environ["HOME"]]
