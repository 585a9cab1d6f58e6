"""When did the kubelet first show that a container is hot? Asked beside the controller."""

import threading
from datetime import datetime

SUMMARY = "/stats/summary"
EVERY_S = 0.25


class CrossingWatch:
    """Reads one pod's usage until told to stop; each sample counts by its own time."""

    def __init__(self, node, pod_uid) -> None:
        self._kubelet = node.kubelet_api()
        self._pod_uid = pod_uid
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.threshold_milli = float("inf")
        self.first_hot_sample_s = None

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._kubelet.close()

    def _watch(self) -> None:
        while not self._stop.wait(EVERY_S) and self.first_hot_sample_s is None:
            summary = self._kubelet.request("GET", SUMMARY, only_cpu_and_memory="true")
            for pod in summary["pods"]:
                if pod["podRef"]["uid"] == self._pod_uid:
                    self._look(pod["containers"][0].get("cpu", {}))

    def _look(self, cpu) -> None:
        if cpu.get("usageNanoCores", 0) / 1e6 > self.threshold_milli:
            self.first_hot_sample_s = datetime.fromisoformat(cpu["time"]).timestamp()
