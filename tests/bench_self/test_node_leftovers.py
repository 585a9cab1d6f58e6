"""A test run that was killed leaves a node behind; the next start of that node finds all of it."""

import os
import signal
from pathlib import Path

import pytest

from tests.bench.cgroups import CgroupRoot, machine_hierarchies
from tests.bench.images import LOAD_CONTAINER
from tests.bench.netns import NodeNetwork
from tests.bench.node import Node

INDEX = 3


@pytest.fixture
def killed_run(control_plane, namespace):
    """Pids of kubelet, containerd, shims and containers whose test process is gone."""
    child = os.fork()
    if child == 0:
        try:
            run_a_pod(control_plane, namespace)
        finally:
            # Nothing of the parent's clean-up may run here: that is what a SIGKILL is like.
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    in_network = NodeNetwork(INDEX).pids()
    in_containers = CgroupRoot(f"fluid-bench-{INDEX}", machine_hierarchies()).pids()
    assert len(in_network) >= 3
    assert len(in_containers) >= 2
    return in_network | in_containers


def run_a_pod(control_plane, namespace):
    doomed = Node(control_plane, "doomed", INDEX)
    doomed.start()
    api = control_plane.client()
    api.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "load", "namespace": namespace},
            "spec": {**doomed.placement, "containers": [LOAD_CONTAINER]},
        }
    )
    api.wait_for(
        "the pod runs",
        lambda: api.get("v1", "Pod", "load", namespace)["status"]["phase"] == "Running",
    )


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_next_run_ends_what_a_killed_one_left(control_plane, node, killed_run):
    # Names on the machine come from the index, so the next run may call the node as it likes.
    successor = Node(control_plane, "successor", INDEX)
    successor.start()
    left = NodeNetwork(INDEX).pids() & killed_run
    successor.stop()

    assert left == set()
    assert [pid for pid in killed_run if is_alive(pid)] == []
    assert not NodeNetwork(INDEX).path.exists()
    assert not Path(f"/sys/class/net/fluid{INDEX}").exists()
    assert list(Path("/sys/fs/cgroup").glob(f"**/fluid-bench-{INDEX}")) == []
    assert f"/nodes/{INDEX}/" not in Path("/proc/self/mounts").read_text()
    # The neighbour on the same machine was not touched.
    assert node.is_ready()
    assert NodeNetwork(1).pids()
