"""The README's example shows what it promises."""

from pathlib import Path

from argocd_fluid.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_example_s_change_is_a_live_resize_and_a_policy(capsysbinary) -> None:
    assert main(["plan", str(EXAMPLES / "before"), str(EXAMPLES / "after")]) == 0
    lines = capsysbinary.readouterr().out.decode().splitlines()
    trainer = [" ".join(line.split()) for line in lines if "workers/trainer x3" in line]
    assert trainer[0] == "workers/trainer x3 live resize cpu 2 -> 3, memory 8Gi -> 12Gi"
    assert trainer[1].startswith("workers/trainer x3 policy cpu.max 8 -> 12")
    assert lines[-1] == "Plan: 1 live resize, 1 policy, 3 unchanged."


def test_the_example_renders(monkeypatch, capsysbinary) -> None:
    monkeypatch.chdir(EXAMPLES / "after")
    assert main(["generate", "-o", "yaml"]) == 0
    assert capsysbinary.readouterr().out.decode().count("argocd-fluid.io/intent:") == 1
