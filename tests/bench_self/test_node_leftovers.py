"""A test run that was killed leaves a node behind; the next run finds all of it."""

import copy
import os
import signal
from pathlib import Path

import pytest

from tests.bench.cgroups import CgroupRoot, machine_hierarchies
from tests.bench.images import LOAD_CONTAINER
from tests.bench.netns import NodeNetwork
from tests.bench.node import Node, cleanup
from tests.bench.processes import Supervisor, end_leftovers

NETWORK = NodeNetwork(3)
CGROUPS = CgroupRoot("fluid-bench-3", machine_hierarchies())


@pytest.fixture
def killed_run(control_plane, namespace):
    """The state folder of a run whose test process is gone while its node and pod live on."""
    run = copy.copy(control_plane)
    run.folder = control_plane.folder / "killed"
    child = os.fork()
    if child == 0:
        try:
            run.supervisor = Supervisor(run.folder)
            start_a_pod(run, namespace)
        finally:
            # Nothing of the parent's clean-up may run here: that is what a SIGKILL is like.
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    yield run.folder
    # Of no use after a pass; after a failure nothing may stay on the machine.
    end_leftovers(run.folder)
    cleanup(run.folder)


def start_a_pod(control_plane, namespace):
    doomed = Node(control_plane, "doomed", 3)
    doomed.start()
    item = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "load", "namespace": namespace},
        "spec": {**doomed.placement, "containers": [LOAD_CONTAINER]},
    }
    api = control_plane.client()
    api.create(item)
    api.wait_for(
        "the pod runs",
        lambda: api.get("v1", "Pod", "load", namespace)["status"]["phase"] == "Running",
    )


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_next_run_ends_what_a_killed_one_left(node, killed_run):
    in_network, in_containers = NETWORK.pids(), CGROUPS.pids()
    # kubelet, containerd, the pod's shim, the service's forwarder; pause and load.
    assert len(in_network) >= 4
    assert len(in_containers) >= 2

    end_leftovers(killed_run)
    cleanup(killed_run)

    assert [pid for pid in in_network | in_containers if is_alive(pid)] == []
    assert not NETWORK.path.exists()
    assert not Path("/sys/class/net/fluid3").exists()
    assert list(Path("/sys/fs/cgroup").glob("**/fluid-bench-3")) == []
    assert str(killed_run) not in Path("/proc/self/mounts").read_text()
    assert not (killed_run / "nodes" / "3").exists()
    # The neighbour on the same machine was not touched.
    assert node.is_ready()
    assert NodeNetwork(1).pids()
