"""Fixtures over the scripted server."""

import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer

import pytest
from argocd_fluid.kube.client import Client

from tests.kube.scripted import Script, handler, loader


@pytest.fixture
def server() -> Iterator[Script]:
    script = Script()
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler(script))
    http.daemon_threads = True
    script.url = f"http://127.0.0.1:{http.server_address[1]}"
    threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True).start()
    yield script
    script.ended.set()
    http.shutdown()
    http.server_close()


@pytest.fixture
def client(server: Script) -> Client:
    return Client(loader(server), timeout_s=0.5)
