"""What a person sees of the command when its surroundings are not as it needs them."""

import socket
from argparse import ArgumentParser

import pytest
from argocd_fluid import cli
from argocd_fluid.controller.command import add_arguments
from argocd_fluid.controller.metrics import Metrics, Server
from argocd_fluid.errors import UserError


def test_a_port_in_use_is_one_clear_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UserError) as raised:
            Server(("127.0.0.1", port), Metrics(), is_alive=lambda: True, is_ready=lambda: True)
    assert str(raised.value) == (
        f"127.0.0.1:{port} is in use (choose another one with --metrics-address)"
    )


def test_a_kubeconfig_that_is_not_there_is_one_clear_line(capfd, monkeypatch) -> None:
    monkeypatch.setattr("argocd_fluid.controller.logs.set_up", lambda: None)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    assert cli.main(["controller", "--kubeconfig", "/nonexist"]) == 1
    assert capfd.readouterr().err == (
        "argocd-fluid: no file /nonexist (--kubeconfig names a kubeconfig)\n"
    )


def test_the_help_names_the_defaults() -> None:
    parser = ArgumentParser()
    add_arguments(parser)
    text = " ".join(parser.format_help().split())
    for default in ("0.0.0.0:8080", "auto", "5s"):
        assert f"(default: {default})" in text
