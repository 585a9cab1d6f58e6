"""How long a hot rank waits for its new size: `python -m tests.perf.resize_latency [--trials 20]`.

Real Argo CD, API server, JobSet, kubelet and containerd; the controller at its default interval.
One worker at a time starts to use 95 % of its CPU limit; the trial ends when the kernel has the new
quota. Start times are spread over the intervals of controller and kubelet.

By default nobody but the controller asks the kubelet. With --kubelet a second reader notes when the
kubelet first shows the load, by the sample's own time; it may make the kubelet's samples fresher.
"""

import argparse
import statistics
import time
from contextlib import ExitStack

from tests.bench import fluid, state
from tests.bench.kit import Kit
from tests.controller.running import Controller
from tests.e2e.observer import CrossingWatch
from tests.e2e.training import WORKERS, Training

PARTS = ("control-plane", "jobset", "node", "argocd")
SPREAD_S = 3.7
NAMESPACE = "perf"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument(
        "--kubelet", action="store_true", help="note the kubelet's first hot sample"
    )
    arguments = parser.parse_args()
    with state.session() as supervisor, ExitStack() as stack:
        kit = Kit(supervisor)
        stack.callback(kit.stop)
        training = _start(kit, stack)
        crossings, samples = [], []
        for trial in range(arguments.trials):
            crossing, sample = _trial(training, trial, watch=arguments.kubelet)
            crossings.append(crossing)
            samples += [sample] if sample is not None else []
            print(f"trial {trial + 1:2}: {crossing:5.1f} s", flush=True)
        _print("crossing to cgroup", crossings)
        if samples:
            _print("first kubelet sample that shows it to cgroup (bar: p95 6.5 s)", samples)


def _start(kit: Kit, stack: ExitStack) -> Training:
    for part in PARTS:
        kit.start(part)
    fluid.install(kit.control_plane)
    control_plane = kit.control_plane
    account = control_plane.token_kubeconfig("argocd-fluid", "argocd-fluid")
    controller = Controller(control_plane.supervisor, account, "--interval=5s")
    controller.start()
    stack.callback(controller.stop)
    api = control_plane.client()
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    training = Training(
        argocd=kit.started["argocd"],
        control_plane=control_plane,
        node=kit.started["node"],
        api=api,
        namespace=NAMESPACE,
    )
    training.application.wait(sync="Synced", health="Healthy", timeout_s=90)
    training.wait_until_running()
    return training


def _trial(training: Training, trial: int, *, watch: bool) -> tuple[float, float | None]:
    rank = f"workers-{trial % WORKERS}"
    training.rest()
    if trial % WORKERS == 0:
        training.start_over()
    # The kubelet's last samples of the load before must be gone.
    time.sleep(17 + trial * SPREAD_S % 5)
    if not watch:
        started, changed = _burn(training, rank)
        return changed - started, None
    with CrossingWatch(training.node, training.see(rank).uid) as observer:
        observer.threshold_milli = training.cpu_milli(rank) * 0.8
        started, changed = _burn(training, rank)
    sample = observer.first_hot_sample_s
    return changed - started, None if sample is None else changed - sample


def _burn(training: Training, rank: str) -> tuple[float, float]:
    started = time.time()
    limit = training.burn(rank)
    training.wait_for_quota_above(rank, limit, timeout_s=90)
    return started, time.time()


def _print(what: str, seconds: list[float]) -> None:
    ordered = sorted(seconds)
    p95 = ordered[max(0, -(-len(ordered) * 95 // 100) - 1)]
    print(
        f"{what}: p50 {statistics.median(ordered):.1f} s, p95 {p95:.1f} s, "
        f"max {ordered[-1]:.1f} s, n {len(ordered)}"
    )


if __name__ == "__main__":
    main()
