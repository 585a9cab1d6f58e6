"""`python -m tests.bench`, as people and killed runs leave it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.bench import build

REPOSITORY = Path(__file__).parents[2]


class Bench:
    """The command in a temporary folder of its own."""

    def __init__(self, folder):
        self.environment = {**os.environ, "TMPDIR": str(folder)}
        self.folder = folder / f"argocd-fluid-bench-{os.getuid()}"

    def run(self, *arguments):
        return subprocess.run(
            [sys.executable, "-m", "tests.bench", *arguments],
            cwd=REPOSITORY,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def up(self):
        """Start it; give the process and what it printed up to KUBECONFIG."""
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench", "up", "--parts="],
            cwd=REPOSITORY,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("export KUBECONFIG="):
                return process, lines
        pytest.fail(f"up ended with {process.wait()}")

    def components(self):
        """Pids of live processes that were started in this folder."""
        found = set()
        for command in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                text = command.read_text()
            except OSError:
                continue
            if str(self.folder / "pki") in text or str(self.folder / "etcd") in text:
                found.add(int(command.parent.name))
        return found


@pytest.fixture
def bench_command(tmp_path, request):
    """No fixture `bench` here: this has its own folder, and may run beside one."""
    request.node.add_marker(pytest.mark.bench)
    command = Bench(tmp_path)
    yield command
    command.run("down")


def test_it_runs_until_it_is_told_to_end(bench_command):
    process, lines = bench_command.up()
    config = lines[-1].strip().removeprefix("export KUBECONFIG=")
    kubectl = build.ensure("kubernetes") / "kubectl"
    names = subprocess.run(
        [kubectl, f"--kubeconfig={config}", "get", "namespaces", "--output=json"],
        capture_output=True,
        check=True,
        text=True,
    )
    assert "kube-system" in {i["metadata"]["name"] for i in json.loads(names.stdout)["items"]}
    assert f"pid {process.pid}" in bench_command.run("status").stdout

    refused = bench_command.run("down")
    assert refused.returncode == 1
    assert f"kill {process.pid}" in refused.stderr

    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 0
    assert bench_command.components() == set()
    assert bench_command.run("status").stdout.endswith("nothing runs\n")


def test_a_killed_run_leaves_nothing_and_the_next_one_starts(bench_command):
    killed, _ = bench_command.up()
    assert len(bench_command.components()) == 4
    killed.kill()
    killed.communicate()
    deadline = time.monotonic() + 10
    while bench_command.components():
        assert time.monotonic() < deadline
        time.sleep(0.05)

    process, _ = bench_command.up()
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 0
    assert bench_command.run("down").returncode == 0
    assert not bench_command.folder.exists()


def test_a_part_that_does_not_exist_is_named(bench_command):
    done = bench_command.run("up", "--parts=jobset,kube")
    assert done.returncode == 1
    assert "no part kube" in done.stderr
