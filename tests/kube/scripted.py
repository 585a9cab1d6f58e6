"""A scripted HTTP server, for what a real API server does not do on request: break."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

from kubernetes.client.configuration import Configuration


@dataclass
class Asked:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: object


@dataclass
class Answer:
    status: int = 200
    body: object = None
    lines: list[object] | None = None
    """A watch: one chunk each; a str is sent as it is."""
    cut: bool = False
    """End the connection without the end of the body."""
    hang_s: float = 0.0
    """Stay silent before the end."""


@dataclass
class Script:
    """Answers in order; the last one is repeated."""

    answers: list[Answer] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    url: str = ""
    ended: threading.Event = field(default_factory=threading.Event)

    def next(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def loader(server: Script, tokens: Iterator[str] | None = None) -> Callable[[], Configuration]:
    def load() -> Configuration:
        configuration = Configuration(host=server.url)
        configuration.retries = False
        if tokens:
            configuration.api_key["BearerToken"] = f"Bearer {next(tokens)}"
        return configuration

    return load


def handler(script: Script) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            script.asked.append(
                Asked(
                    self.command,
                    parts.path,
                    query,
                    {k.title(): v for k, v in self.headers.items()},
                    body,
                )
            )
            answer = script.next()
            if answer.lines is None:
                self.whole(answer)
            else:
                self.stream(answer)

        def whole(self, answer: Answer) -> None:
            script.ended.wait(answer.hang_s)
            text = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
            self.send_response(answer.status)
            self.send_header("Content-Length", str(len(text.encode())))
            with contextlib.suppress(ConnectionError):  # a client that waited long enough left
                self.end_headers()
                self.wfile.write(text.encode())

        def stream(self, answer: Answer) -> None:
            self.send_response(answer.status)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for line in answer.lines or ():
                data = (line if isinstance(line, str) else json.dumps(line) + "\n").encode()
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.wfile.flush()
            script.ended.wait(answer.hang_s)
            if answer.cut:
                self.close_connection = True
                return
            with contextlib.suppress(ConnectionError):
                self.wfile.write(b"0\r\n\r\n")

        do_GET = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815 - the base class's names

        def log_message(self, *arguments: object) -> None:
            pass

    return Handler


def pod(name: str, version: int, **labels: str) -> dict[str, object]:
    return {
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": f"uid-{name}",
            "resourceVersion": str(version),
            "labels": labels,
        }
    }


def listing(version: int, *items: object, more: str = "") -> dict[str, object]:
    return {"metadata": {"resourceVersion": str(version), "continue": more}, "items": list(items)}


def gone() -> dict[str, object]:
    return {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
