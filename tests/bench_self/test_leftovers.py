"""What a killed run left is found by its pid files, and nothing else is touched."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.bench.processes import end_leftovers, free_port, leftovers

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def stranger():
    """A process that the bench has nothing to do with."""
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as process:
        yield process
        process.kill()


def is_alive(pid):
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def wait_until(is_true, timeout_s=10):
    deadline = time.monotonic() + timeout_s
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def killed_run(folder, script):
    """Start a component in a run of another process, and kill that run."""
    program = f"""
import os, signal
from pathlib import Path
from tests.bench.processes import Supervisor
child = Path({str(folder / "child")!r})
supervisor = Supervisor(Path({str(folder)!r}))
supervisor.start("kubelet", ["sh", "-c", {script!r}], ready=lambda: child.read_text() != "")
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


def test_a_component_that_a_killed_run_left_ends_with_its_children(tmp_path):
    child = tmp_path / "child"
    killed_run(tmp_path, f"sleep 600 & echo $! > {child}; wait")
    pids = [leftovers(tmp_path)["kubelet"], int(child.read_text())]
    assert [is_alive(pid) for pid in pids] == [True, True]

    end_leftovers(tmp_path)
    wait_until(lambda: not any(is_alive(pid) for pid in pids))
    assert leftovers(tmp_path) == {}
    assert list((tmp_path / "run").iterdir()) == []


@pytest.mark.parametrize(
    "recorded",
    ["{pid} 1", "{pid}", "{pid} ", "", "none 5"],
    ids=["another-start", "no-start", "cut-off", "empty", "no-number"],
)
def test_a_process_that_is_not_surely_ours_is_left_alone(tmp_path, stranger, recorded):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "etcd.pid").write_text(recorded.format(pid=stranger.pid))
    assert leftovers(tmp_path) == {}
    end_leftovers(tmp_path)
    assert stranger.poll() is None
    assert list((tmp_path / "run").iterdir()) == []


def test_a_port_is_given_once_and_not_to_outgoing_connections():
    ports = [free_port() for _ in range(200)]
    assert len(set(ports)) == len(ports)
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert max(ports) < first
