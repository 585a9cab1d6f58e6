"""Fixtures of the bench: one instance of each real component per test session, on first use.

A part that cannot run here skips its tests and says why. With ARGOCD_FLUID_BENCH=required (as in
.ci/run) every skip is a failure. The parts are imported by whoever uses them: tests without a bench
are collected without its libraries.
"""

import os
import secrets
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.bench.build import Unavailable

if TYPE_CHECKING:
    from tests.bench.argocd import ArgoCD
    from tests.bench.control_plane import ControlPlane
    from tests.bench.jobset import JobSet
    from tests.bench.kwok import Kwok
    from tests.bench.node import Node
    from tests.bench.processes import Supervisor
    from tests.bench.rollouts import Rollouts

LOG_LINES = 15
FIGURES = pytest.StashKey[list[tuple[str, str, float]]]()
SUPERVISOR = pytest.StashKey["Supervisor"]()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        # Every part stands on this fixture.
        if "bench" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.bench)


@contextmanager
def available(config: pytest.Config) -> Iterator[None]:
    """Turn `Unavailable` into a skip; what a build says is for the terminal."""
    try:
        with config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            yield
    except Unavailable as reason:
        pytest.skip(f"bench: {reason}")


@pytest.fixture
def measured(request: pytest.FixtureRequest) -> Callable[[str, float], None]:
    """Note a figure; all of them are printed after the run. Never an assertion."""
    figures = request.config.stash.setdefault(FIGURES, [])
    return lambda what, value: figures.append((request.node.name, what, value))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    figures = terminalreporter.config.stash.get(FIGURES, [])
    if figures:
        terminalreporter.section("measured (seconds unless said otherwise)")
    for test, what, value in figures:
        terminalreporter.write_line(f"{value:8.2f}  {what}  [{test}]")


def started(request: pytest.FixtureRequest, part):
    """Start a part, give it, and stop it."""
    with available(request.config):
        part.start()
    yield part
    part.stop()


@pytest.fixture(scope="session")
def bench(request: pytest.FixtureRequest) -> Iterator["Supervisor"]:
    """The processes of this test run, in a folder that it alone has."""
    from tests.bench import state

    with ExitStack() as stack:
        # Who ends the run by SIGTERM gets the same clean-up as with Ctrl-C.
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        stack.callback(signal.signal, signal.SIGTERM, before)
        with available(request.config):
            supervisor = stack.enter_context(state.session())
        request.config.stash[SUPERVISOR] = supervisor
        yield supervisor


@pytest.fixture(scope="session")
def control_plane(request, bench) -> Iterator["ControlPlane"]:
    from tests.bench import state
    from tests.bench.control_plane import ControlPlane

    yield from started(request, ControlPlane(state.folder(), bench))


@pytest.fixture(scope="session")
def jobset(request, control_plane) -> Iterator["JobSet"]:
    from tests.bench.jobset import JobSet

    yield from started(request, JobSet(control_plane))


@pytest.fixture(scope="session")
def node(request, control_plane) -> Iterator["Node"]:
    from tests.bench.node import Node

    yield from started(request, Node(control_plane, "node-1", 1))


@pytest.fixture(scope="session")
def second_node(request, control_plane) -> Iterator["Node"]:
    from tests.bench.node import Node

    yield from started(request, Node(control_plane, "node-2", 2))


@pytest.fixture(scope="session")
def kwok(request, control_plane) -> Iterator["Kwok"]:
    from tests.bench.kwok import Kwok

    yield from started(request, Kwok(control_plane))


@pytest.fixture(scope="session")
def rollouts(request, control_plane) -> Iterator["Rollouts"]:
    from tests.bench.rollouts import Rollouts

    yield from started(request, Rollouts(control_plane))


@pytest.fixture(scope="session")
def argocd(request, control_plane) -> Iterator["ArgoCD"]:
    from tests.bench.argocd import ArgoCD

    yield from started(request, ArgoCD(control_plane))


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
    api.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    """Show the components' last words beside a failure."""
    report = no_skip((yield))
    supervisor = item.config.stash.get(SUPERVISOR, None)
    if report.failed and supervisor is not None and item.get_closest_marker("bench"):
        for process in supervisor.running():
            name = process.name if process.is_alive() else f"{process.name}, which has ended"
            report.sections.append((f"log of {name}", process.tail(LOG_LINES)))
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return no_skip((yield))


def no_skip(report):
    """Make a failure of a skip where nothing may be skipped; what is expected to fail may."""
    required = os.environ.get("ARGOCD_FLUID_BENCH") == "required"
    if required and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"nothing may be skipped here: {report.longrepr[-1]}"
    return report
