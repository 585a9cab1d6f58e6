"""The test program, run on the host without a container."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.bench import build
from tests.bench.load_client import Load
from tests.bench.processes import free_port

pytestmark = pytest.mark.bench
MEBIBYTE = 1 << 20


def eventually(condition, *, timeout_s=5):
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def start(tmp_path):
    """Start the program with these arguments; its command file is `tmp_path`/commands."""
    running = []

    def run(*arguments):
        port = free_port()
        environment = {"LOAD_ADDRESS": f"127.0.0.1:{port}", "LOAD_FILE": str(tmp_path / "commands")}
        process = subprocess.Popen(
            [build.ensure("load") / "load", *arguments], env={**os.environ, **environment}
        )
        running.append(process)
        load = Load("127.0.0.1", port=port)
        if arguments != ("pause",):
            eventually(load.is_healthy)
        return process, load

    yield run
    for process in running:
        process.kill()
        process.wait()


def test_it_starts_with_the_load_of_its_arguments(start):
    _, load = start("memory mebibytes=2", "cpu milli=50")
    info = load.info()
    assert (info["memoryBytes"], info["cpuMilli"]) == (2 * MEBIBYTE, 50)


def test_it_follows_its_command_file(start, tmp_path):
    process, load = start()
    (tmp_path / "commands").write_text("nonsense\nmemory mebibytes=3\n")
    eventually(lambda: load.info()["memoryBytes"] == 3 * MEBIBYTE)
    (tmp_path / "commands").write_text("exit code=5\n")
    assert process.wait(timeout=5) == 5


def test_it_burns_the_cpu_time_that_it_was_told_to(start):
    process, load = start()

    def cpu_s():
        # utime and stime of proc(5), in clock ticks.
        stat = Path(f"/proc/{process.pid}/stat").read_text()
        fields = stat.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    load.cpu(300)
    first, started = cpu_s(), time.monotonic()
    time.sleep(1.5)
    share = (cpu_s() - first) / (time.monotonic() - started)
    assert share == pytest.approx(0.3, abs=0.1)


def test_wrong_arguments_are_refused_and_nothing_changes(start):
    _, load = start("memory mebibytes=1")
    refused = load._session.put(f"{load._url}/memory?bytes=many")
    assert (refused.status_code, refused.text.split(":")[0]) == (400, "bytes")
    assert load.info()["memoryBytes"] == MEBIBYTE


@pytest.mark.parametrize(("arguments", "code"), [((), 143), (("pause",), 0)])
def test_it_ends_at_once_when_it_is_told_to(start, arguments, code):
    process, _ = start(*arguments)
    time.sleep(0.2)
    process.terminate()
    assert process.wait(timeout=2) == code
