"""The real Argo Rollouts controller measures a web metric."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytestmark = pytest.mark.usefixtures("rollouts")

API_VERSION = "argoproj.io/v1alpha1"


@pytest.fixture
def metric():
    """A server on loopback whose answer a test can set."""

    class Handler(BaseHTTPRequestHandler):
        value = 1.0

        def do_GET(self):
            body = json.dumps({"value": Handler.value}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Handler.url = f"http://127.0.0.1:{server.server_address[1]}/"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield Handler
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(("value", "phase"), [(0.9, "Successful"), (0.1, "Failed")])
def test_an_analysis_ends_as_the_metric_says(control_plane, namespace, metric, value, phase):
    metric.value = value
    api = control_plane.client()
    web = {"url": metric.url, "jsonPath": "{$.value}"}
    api.create(
        {
            "apiVersion": API_VERSION,
            "kind": "AnalysisRun",
            "metadata": {"name": "run", "namespace": namespace},
            "spec": {
                "metrics": [
                    {
                        "name": "ratio",
                        "interval": "1s",
                        "count": 2,
                        "successCondition": "result >= 0.5",
                        "provider": {"web": web},
                    }
                ]
            },
        }
    )

    def ended():
        run = api.get(API_VERSION, "AnalysisRun", "run", namespace)
        return run.get("status", {}).get("phase") == phase

    api.wait_for(phase, ended)
