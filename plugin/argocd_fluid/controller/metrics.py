"""What Prometheus may ask the controller, and its health. Counted here, decided elsewhere."""

import errno
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from argocd_fluid.errors import UserError

PREFIX = "argocd_fluid"


class Metrics:
    """The controller's own figures, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.resizes = Counter(
            f"{PREFIX}_resizes",
            "Resizes sent to the API server, by what became of them there.",
            ["verdict", "reason"],
            registry=self.registry,
        )
        self.reports = Counter(
            f"{PREFIX}_reports",
            "Times a container came to be listed in status.pods, by state and reason there.",
            ["state", "reason"],
            registry=self.registry,
        )
        self.loop_seconds = Histogram(
            f"{PREFIX}_loop_seconds",
            "Time of one round over one node or workload.",
            ["loop"],
            registry=self.registry,
        )
        self.loop_errors = Counter(
            f"{PREFIX}_loop_errors",
            "Rounds that failed.",
            ["loop"],
            registry=self.registry,
        )
        self.observed_nodes = Gauge(
            f"{PREFIX}_observed_nodes",
            "Nodes with enrolled pods whose usage could be read in the last round.",
            registry=self.registry,
        )


class Server:
    """/metrics, /healthz and /readyz on one address."""

    def __init__(
        self,
        address: tuple[str, int],
        metrics: Metrics,
        *,
        is_alive: Callable[[], bool],
        is_ready: Callable[[], bool],
    ) -> None:
        routes: dict[str, Callable[[], tuple[int, bytes]]] = {
            "/metrics": lambda: (200, generate_latest(metrics.registry)),
            "/healthz": lambda: _probe(is_alive()),
            "/readyz": lambda: _probe(is_ready()),
        }

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                route = routes.get(self.path.partition("?")[0])
                status, body = route() if route else (404, b"not found\n")
                self.send_response(status)
                self.send_header("Content-Type", CONTENT_TYPE_LATEST)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - same
                """Say nothing per request."""

        self._server = _bound(address, Handler)
        self.port = self._server.server_address[1]

    def start(self) -> None:
        """Serve in the background."""
        threading.Thread(target=self._server.serve_forever, daemon=True, name="metrics").start()

    def stop(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()


def _bound(address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> ThreadingHTTPServer:
    shown = ":".join(map(str, address))
    hint = "choose another one with --metrics-address"
    try:
        return ThreadingHTTPServer(address, handler)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise UserError(f"{shown} is in use", hint=hint) from error
        raise UserError(f"cannot listen on {shown}: {error.strerror}", hint=hint) from error


def _probe(good: bool) -> tuple[int, bytes]:  # noqa: FBT001 - it is what the probe asks
    return (200, b"ok\n") if good else (503, b"not yet\n")
