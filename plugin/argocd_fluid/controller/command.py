"""The command `argocd-fluid controller`: flags, signals, exit code. Nothing is decided here."""

import argparse
import logging
import signal
import threading
from pathlib import Path

from argocd_fluid.controller import logs
from argocd_fluid.controller.metrics import Metrics, Server
from argocd_fluid.controller.runtime import Controller, Options
from argocd_fluid.errors import UserError
from argocd_fluid.kube.connection import loader
from argocd_fluid.kube.kubelet import Trust
from argocd_fluid.policy.duration import parse_duration
from argocd_fluid.policy.model import Mode

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("--kubeconfig", type=Path, help="default: the pod's service account")
    parser.add_argument("--node-name", default="", help="resize the pods of this node only")
    parser.add_argument(
        "--interval",
        default="5s",
        help="time between two rounds over a node (default: %(default)s)",
    )
    parser.add_argument(
        "--mode",
        choices=[Mode.AUTO.value, Mode.RECOMMEND.value],
        default=Mode.AUTO.value,
        help="the most that may be done to any workload (default: %(default)s)",
    )
    parser.add_argument(
        "--watch-namespace", action="append", default=[], metavar="NS", help="may be repeated"
    )
    parser.add_argument(
        "--metrics-address",
        default="0.0.0.0:8080",
        metavar="HOST:PORT",
        help="where /metrics, /healthz and /readyz are (default: %(default)s)",
    )
    parser.add_argument("--kubelet-ca", type=Path, help="default: the cluster's own CA")
    parser.add_argument(
        "--kubelet-insecure-tls",
        action="store_true",
        help="do not verify kubelets: they may be anybody, and get our token",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run until SIGTERM or SIGINT; what is under way is finished first."""
    logs.set_up()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    metrics = Metrics()
    controller = Controller(loader(arguments.kubeconfig), options_of(arguments), metrics)
    server = Server(
        address_of(arguments.metrics_address),
        metrics,
        is_alive=lambda: controller.is_alive,
        is_ready=lambda: controller.is_ready,
    )
    server.start()
    controller.start()
    log.info("controller runs", extra={"mode": arguments.mode, "metrics_port": server.port})
    stop.wait()
    log.info("controller ends")
    controller.stop()
    server.stop()
    return 0


def options_of(arguments: argparse.Namespace) -> Options:
    """Read the flags; raises UserError."""
    return Options(
        interval_s=parse_duration(arguments.interval),
        mode=Mode(arguments.mode),
        node_name=arguments.node_name,
        namespaces=tuple(arguments.watch_namespace),
        trust=Trust(ca=arguments.kubelet_ca, insecure=arguments.kubelet_insecure_tls),
    )


def address_of(text: str) -> tuple[str, int]:
    """Read HOST:PORT; an IPv6 host stands in brackets."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal():
        raise UserError(f"{text!r} is no address", hint="write HOST:PORT, as in 127.0.0.1:8080")
    return (host.strip("[]"), int(port))
