"""Fixtures of the bench: one instance of each real component per test session, on first use.

A part that cannot run here skips its tests and says why. With ARGOCD_FLUID_BENCH=required (as in
.ci/run) that is a failure instead.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.bench import state
from tests.bench.build import Unavailable
from tests.bench.control_plane import ControlPlane
from tests.bench.processes import Supervisor

BENCH = {"bench", "control_plane", "jobset", "node", "second_node", "kwok", "argocd", "rollouts"}
BUILT = {"bench_binaries"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if (BENCH | BUILT) & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.bench)


@contextmanager
def available() -> Iterator[None]:
    """Turn `Unavailable` into a skip, or a failure where the bench is required."""
    try:
        yield
    except Unavailable as reason:
        if os.environ.get("ARGOCD_FLUID_BENCH") == "required":
            pytest.fail(f"the bench is required: {reason}")
        pytest.skip(f"bench: {reason}")


@pytest.fixture(scope="session")
def bench() -> Iterator[Supervisor]:
    """The bench's folder, for this session alone, and the processes in it."""
    with available():
        place = state.folder()
        lock = state.claim(place)
    supervisor = Supervisor(place)
    state.clear(place)
    (place / "logs").mkdir(exist_ok=True)
    yield supervisor
    supervisor.stop_all()
    lock.close()


@pytest.fixture(scope="session")
def control_plane(bench: Supervisor) -> Iterator[ControlPlane]:
    part = ControlPlane(state.folder(), bench)
    yield from started(part)


@pytest.fixture(scope="session")
def jobset(control_plane):
    from tests.bench.jobset import JobSet

    yield from started(JobSet(control_plane))


@pytest.fixture(scope="session")
def node(control_plane):
    from tests.bench.node import Node

    yield from started(Node(control_plane, "node-1", 1))


@pytest.fixture(scope="session")
def second_node(control_plane):
    from tests.bench.node import Node

    yield from started(Node(control_plane, "node-2", 2))


@pytest.fixture(scope="session")
def kwok(control_plane):
    from tests.bench.kwok import Kwok

    yield from started(Kwok(control_plane))


@pytest.fixture(scope="session")
def rollouts(control_plane):
    from tests.bench.rollouts import Rollouts

    yield from started(Rollouts(control_plane))


@pytest.fixture(scope="session")
def argocd(control_plane):
    from tests.bench.argocd import ArgoCD

    yield from started(ArgoCD(control_plane))


@pytest.fixture
def namespace(control_plane) -> Iterator[str]:
    """A namespace of the test's own; its removal goes on behind the test's back."""
    name = f"t-{secrets.token_hex(4)}"
    api = control_plane.client()
    item = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    api.create(item)
    api.wait_for("its account", lambda: api.find("v1", "ServiceAccount", "default", name))
    yield name
    api.delete(item)


def started(part):
    """Start a part, give it, and stop it."""
    with available():
        part.start()
    yield part
    part.stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """Show the components' last words beside a failure."""
    report = yield
    supervisor = getattr(item, "funcargs", {}).get("bench")
    if report.failed and supervisor is not None:
        for process in supervisor.running():
            report.sections.append((f"log of {process.name}", process.tail(15)))
    return report
