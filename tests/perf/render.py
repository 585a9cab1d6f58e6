"""How fast `generate` is, against `helm template` and `kustomize build` in the same run.

Run it with `python -m tests.perf.render [--runs N]` in an environment that has argocd-fluid
installed. Whole processes, medians, peak memory of the process itself; other load on the machine
moves all three alike, so ratios are what to look at. Exit 1 where a bar is missed.
"""

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests import small
from tests.bench import helm

JOBSET = Path(__file__).parents[2] / "examples/after/jobset.yaml"
PER_FILE = 1000
MEBI = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """Medians of several runs of one command."""

    seconds: float
    mebibytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One bar: what was found, what it is compared with, and the ratio that must hold."""

    what: str
    found: float
    bar: float
    is_floor: bool = False

    @property
    def holds(self) -> bool:
        return self.found >= self.bar if self.is_floor else self.found <= self.bar

    def __str__(self) -> str:
        relation = "at least" if self.is_floor else "at most"
        verdict = "holds" if self.holds else "MISSED"
        return f"{self.what:<52} {self.found:>8.2f}  {relation:>8} {self.bar:<6g} {verdict}"


class Bench:
    """Runs the three programs over the same documents."""

    def __init__(self, folder: Path, runs: int) -> None:
        self.folder, self.runs = folder, runs
        tools = helm.ensure()
        self.helm, self.kubectl = str(tools / "helm"), str(tools / "kubectl")

    def measure(self, documents: int) -> dict[str, Taken]:
        """Give what each program takes, their runs in turn so that load meets all alike."""
        folder = prepared(self.folder / str(documents), documents)
        commands: dict[str, tuple[Sequence[str], Path]] = {
            "generate": ((generate(), "generate"), folder / "plain"),
            "helm": ((self.helm, "template", "x", "."), folder / "chart"),
            "kustomize": ((self.kubectl, "kustomize", "."), folder / "kustomize"),
        }
        found: dict[str, list[Taken]] = {name: [] for name in commands}
        for argv, cwd in commands.values():
            run(argv, cwd)
        for _ in range(self.runs):
            for name, (argv, cwd) in commands.items():
                found[name].append(run(argv, cwd))
        return {name: median(each) for name, each in found.items()}

    def generate_only(self, documents: int, runs: int) -> Taken:
        """Give what `generate` takes, for counts at which the others are too slow to wait for."""
        folder = prepared(self.folder / str(documents), documents)
        return median([run((generate(), "generate"), folder / "plain") for _ in range(runs)])


def generate() -> str:
    """Give the installed command: Argo CD runs it, so the start of Python counts."""
    return str(Path(sys.executable).with_name("argocd-fluid"))


def median(found: list[Taken]) -> Taken:
    return Taken(
        seconds=statistics.median(each.seconds for each in found),
        mebibytes=statistics.median(each.mebibytes for each in found),
    )


def run(argv: Sequence[str], cwd: Path) -> Taken:
    """Run a program; what it prints is of no interest."""
    # An installed package has its bytecode: what is not there yet is written in the first run.
    ended = small.run(argv, cwd=cwd, env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""})
    if ended.code:
        raise SystemExit(f"{argv[0]} ended with {ended.code}: {ended.said}")
    return Taken(seconds=ended.seconds, mebibytes=ended.rss_kib * 1024 / MEBI)


def prepared(folder: Path, documents: int) -> Path:
    """Write the same documents as plain files, as a chart and for kustomize."""
    text = JOBSET.read_text()
    every = [text.replace("name: llama", f"name: llama-{index}") for index in range(documents)]
    files = {
        f"part-{start:06}.yaml": "---\n".join(every[start : start + PER_FILE])
        for start in range(0, documents, PER_FILE)
    }
    for place in ("plain", "chart/templates", "kustomize"):
        (folder / place).mkdir(parents=True)
        for name, content in files.items():
            (folder / place / name).write_text(content)
    (folder / "chart/Chart.yaml").write_text("apiVersion: v2\nname: same\nversion: 1.0.0\n")
    listed = "".join(f"- {name}\n" for name in files)
    (folder / "kustomize/kustomization.yaml").write_text(f"resources:\n{listed}")
    return folder


def rows(bench: Bench) -> list[Row]:
    one, hundred, thousand = (bench.measure(documents) for documents in (1, 100, 1000))
    ten_thousand = bench.generate_only(10_000, min(bench.runs, 3))
    tell("documents", {"1": one, "100": hundred, "1000": thousand})
    growth = (ten_thousand.seconds / 10_000) / (hundred["generate"].seconds / 100)
    # The start of Python hides in the time of 100 documents, so the sharper one as well.
    started = one["generate"].seconds
    sharper = (ten_thousand.seconds - started) / (thousand["generate"].seconds - started) / 10
    ours: Callable[[dict[str, Taken]], Taken] = lambda found: found["generate"]  # noqa: E731
    return [
        Row(what="1 JobSet: time / helm", found=ratio(one, "helm"), bar=1.1),
        Row(what="1 JobSet: MB", found=ours(one).mebibytes, bar=25),
        Row(
            what="100 documents: kustomize / time",
            found=1 / ratio(hundred, "kustomize"),
            bar=3,
            is_floor=True,
        ),
        Row(
            what="1,000 documents: kustomize / time",
            found=1 / ratio(thousand, "kustomize"),
            bar=8,
            is_floor=True,
        ),
        Row(what="1,000 documents: MB", found=ours(thousand).mebibytes, bar=60),
        Row(what="time per document, 10,000 / 100", found=growth, bar=1.2),
        Row(what="the same without the start, 10,000 / 1,000", found=sharper, bar=1.2),
    ]


def ratio(found: dict[str, Taken], other: str) -> float:
    return found["generate"].seconds / found[other].seconds


def tell(head: str, measured: dict[str, dict[str, Taken]]) -> None:
    print(f"{head:<12} {'program':<12} {'ms':>8} {'MB':>8}")
    for count, found in measured.items():
        for name, taken in found.items():
            print(f"{count:<12} {name:<12} {taken.seconds * 1000:>8.0f} {taken.mebibytes:>8.1f}")
    print()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9, help="of each program (default: 9)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="argocd-fluid-perf-") as folder:
        found = rows(Bench(Path(folder), arguments.runs))
    for row in found:
        print(row)
    return 0 if all(row.holds for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
