"""`python -m tests.bench`: the bench by hand, outside a test run.

up      start parts, print where they listen, stay until Ctrl-C or SIGTERM
build   build what is missing
status  what is built, what runs
down    remove what a killed run left on this machine
"""

import argparse
import shlex
import signal
import sys
import time
from collections.abc import Collection

from tests.bench import build, fluid, state
from tests.bench.build import Unavailable, say
from tests.bench.kit import CONTROL_PLANE, DEFAULT, PARTS, Kit
from tests.bench.processes import DidNotStart, leftovers


def main(argv: list[str] | None = None) -> int:
    """Exit codes: 0 done, 1 a part cannot run or did not start, 2 wrong arguments, 130 Ctrl-C."""
    arguments = _parser().parse_args(argv)
    commands = {"build": _build, "up": _up, "status": _status, "down": _down}
    # SIGINT too: a shell starts background jobs with it ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        commands[arguments.command](arguments)
    except (Unavailable, DidNotStart) as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("build", help="build what is missing in the cache")
    command.add_argument("part", nargs="*", help=f"of {', '.join(build.PARTS)} (default: all)")
    command = commands.add_parser("up", help="start a cluster, until Ctrl-C")
    command.add_argument(
        "--parts",
        type=lambda text: [name for name in text.split(",") if name],
        metavar="A,B",
        help=f"of {', '.join(PARTS)}; the control plane always "
        f"(default: {', '.join(DEFAULT)}, as far as they can run here)",
    )
    command.add_argument(
        "--no-fluid", action="store_true", help="leave argocd-fluid's CRDs, RBAC and policies out"
    )
    commands.add_parser("status", help="say what is built and what runs")
    commands.add_parser("down", help="end and remove what a killed run left")
    return parser


def _build(arguments: argparse.Namespace) -> None:
    names = arguments.part or list(build.PARTS)
    _check(names, build.PARTS)
    for name in names:
        print(f"{name:12} {build.ensure(name)}")


def _up(arguments: argparse.Namespace) -> None:
    """A part that nobody asked for may be missing."""
    asked = arguments.parts
    _check(asked or (), PARTS)
    wanted = {CONTROL_PLANE, *(DEFAULT if asked is None else asked)}
    with state.session() as supervisor:
        kit = Kit(supervisor)
        try:
            for name in filter(wanted.__contains__, PARTS):
                _start(kit, name, required=asked is not None or name == CONTROL_PLANE)
            if not arguments.no_fluid and not {"node", "argocd"}.isdisjoint(kit.started):
                _install_fluid(kit)
            _show(kit)
            while True:
                signal.pause()
        except KeyboardInterrupt:
            # The end that people ask for is no failure.
            return
        finally:
            # Whoever presses Ctrl-C twice must not leave mounts and cgroups behind.
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN)
            say("stopping")
            kit.stop()


def _start(kit: Kit, name: str, *, required: bool) -> None:
    say(f"starting {name}")
    began = time.monotonic()
    try:
        kit.start(name)
    except Unavailable as reason:
        if required:
            raise
        say(f"without {name}: {reason}")
    else:
        say(f"{name} is ready after {time.monotonic() - began:.1f} s")


def _install_fluid(kit: Kit) -> None:
    try:
        fluid.install(kit.control_plane)
    except (Unavailable, RuntimeError) as reason:
        say(f"argocd-fluid's own objects are not all there: {reason}")
    else:
        say("installed argocd-fluid's CRDs, RBAC and policies")


def _show(kit: Kit) -> None:
    for line in kit.addresses():
        print(f"# {line}")
    for process in kit.control_plane.supervisor.running():
        print(f"# {process.name:30} pid {process.pid:7} log {process.log}")
    print(f"export PATH={shlex.quote(str(build.ensure('kubernetes')))}:$PATH")
    print(f"export KUBECONFIG={shlex.quote(str(kit.control_plane.admin_kubeconfig))}", flush=True)
    say("Ctrl-C ends it")


def _status(_: argparse.Namespace) -> None:
    for name in build.PARTS:
        print(f"{name:12} {'built' if build.is_built(name) else 'not built'}")
    place = state.folder()
    owner, processes = state.owner(), leftovers(place)
    for name, pid in processes.items():
        print(f"{name:30} pid {pid:7}")
    if owner:
        print(f"run by pid {owner} in {place}")
    elif processes or any((place / "nodes").glob("[0-9]*")):
        print(f"a killed run left parts behind in {place}; `down` removes them")
    else:
        print("nothing runs")


def _down(_: argparse.Namespace) -> None:
    """A run that lives cleans up itself; it is asked to, and not overruled."""
    place = state.folder()
    if owner := state.owner():
        raise Unavailable(f"a run with pid {owner} uses {place}: end it with `kill {owner}`")
    state.end(place)


def _check(names: Collection[str], known: Collection[str]) -> None:
    if unknown := sorted(set(names) - set(known)):
        raise Unavailable(f"no part {', '.join(unknown)}; there are {', '.join(known)}")


if __name__ == "__main__":
    sys.exit(main())
