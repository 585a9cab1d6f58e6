"""Templates, through the real child process."""

import json
import os
import sys
import time

import pytest
from argocd_fluid.cli import main
from argocd_fluid.errors import RenderError
from argocd_fluid.render.application import Application
from argocd_fluid.render.budget import Surroundings
from argocd_fluid.render.parameters import Parameters
from argocd_fluid.render.template import render

from tests import small

ENVIRONMENT = {
    "ARGOCD_APP_NAME": "train",
    "ARGOCD_APP_NAMESPACE": "research",
    "ARGOCD_APP_PROJECT_NAME": "ml",
    "ARGOCD_APP_REVISION": "0123456789abcdef",
    "ARGOCD_ENV_STAGE": "dev",
    "KUBE_API_VERSIONS": "v1,batch/v1",
    "HOME": "/root",
    "SECRET_TOKEN": "hunter2",
}


def application(folder, *, timeout_s=20.0, values=None, params=None) -> Application:
    environment = {**ENVIRONMENT, "PATH": os.environ["PATH"]}
    return Application(
        folder=folder,
        parameters=Parameters(template=params or {}),
        surroundings=Surroundings.of(environment, clock=time.monotonic, timeout_s=timeout_s),
        values=values or {},
    )


@pytest.fixture
def rendered(tmp_path):
    def run(text: str, **more) -> str:
        return render(application(tmp_path, **more), {"a.j2": text.encode()})["a.j2"].decode()

    return run


RENDERED = {
    "application": ("{{ argocd.name }}/{{ argocd.namespace }}/{{ argocd.project }}",
                    "train/research/ml"),
    "revision": ("{{ argocd.revision }}", "0123456789abcdef"),
    "environment of the application": ("{{ argocd.env.STAGE }}", "dev"),
    "api versions": ("{{ 'batch/v1' in argocd.apiVersions }}", "True"),
    "parameters": ("{{ params.size }}", "3"),
    "values": ("{% for each in values.ranks %}{{ each.name }};{% endfor %}", "a;b;"),
    "default": ("{{ params.nothing | default('none') }}", "none"),
    "end of line": ("a\n\n", "a\n\n"),
    "no escaping": ("{{ '<&>' }}", "<&>"),
    "arithmetic": ("{{ 2 * 3 + 2 ** 3 - 7 % 4 }}", "11"),
    "repetition": ("{{ '-' * 3 }}", "---"),
    "joined lists": ("{{ ([1] + [2]) | join(',') }}", "1,2"),
    "json": ("{{ values.ranks[0] | tojson }}", '{"name": "a"}'),
    "loop": ("{% for i in range(3) %}{{ i }}{% endfor %}", "012"),
    "macro": ("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(1) }}", "<1>"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), RENDERED.values(), ids=RENDERED.keys())
def test_what_templates_can_do(text, expected, rendered) -> None:
    values = {"ranks": [{"name": "a"}, {"name": "b"}]}
    assert rendered(text, values=values, params={"size": "3"}) == expected


def test_templates_include_each_other(tmp_path) -> None:
    templates = {
        "a.j2": b"{% from 'm.j2' import m %}{{ m() }}",
        "m.j2": b"{% macro m() %}x{% endmacro %}",
    }
    assert render(application(tmp_path), templates) == {"a.j2": b"x", "m.j2": b""}


ERRORS = {
    "syntax": ("a\n{% for %}\n", r"a\.j2:2: "),
    "never closed": ("a\n{% if true %}\n", r"a\.j2:2: .*endif"),
    "undefined": ("a\nb\n{{ nothing }}\n", r"a\.j2:3: 'nothing' is undefined"),
    "undefined attribute": ("\n{{ params.x }}", r"a\.j2:2: .*no attribute 'x'"),
    "undefined number": ("\n{{ range(params.x) }}", r"a\.j2:2: .*no attribute 'x'"),
    "undefined condition": ("\n{% if params.x %}{% endif %}", r"a\.j2:2: .*no attribute 'x'"),
    "in a macro": ("{% macro m() %}\n{{ 1 / 0 }}{% endmacro %}\n{{ m() }}", r"a\.j2:2: ZeroDiv"),
    "no such filter": ("\n{{ 1 | nope }}", r"a\.j2:2: No filter named 'nope'"),
    "no such template": ("\n{% include 'x.j2' %}", r"a\.j2:2: there is no template x\.j2"),
    "a file for a template": ("{% include '/etc/passwd' %}", "there is no template /etc/passwd"),
    "a variable of the process": ("{{ argocd.env.SECRET_TOKEN }}", "no attribute"),
}


@pytest.mark.parametrize(("text", "problem"), ERRORS.values(), ids=ERRORS.keys())
def test_an_error_points_into_the_template(text, problem, rendered) -> None:
    with pytest.raises(RenderError, match=problem):
        rendered(text)


def test_text_that_is_no_utf_8_is_told(tmp_path) -> None:
    with pytest.raises(RenderError, match=r"a\.j2:2: is not UTF-8"):
        render(application(tmp_path), {"a.j2": b"a\n\xff"})


ATTACKS = {
    "nested ranges": "{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}",
    "a long range": "{{ range(100001) | list }}",
    "repeated text": "{{ 'a' * 10**9 }}",
    "repeated list": "{{ [0] * 10**9 }}",
    "times from the left": "{{ 10**9 * 'a' }}",
    "power": "{{ 10 ** (10 ** 10) }}",
    "products": "{% set n = namespace(x=9**999) %}{% for i in range(40) %}"
    "{% set n.x = n.x * n.x %}{% endfor %}",
    "filter center": "{{ 'a' | center(10**9) }}",
    "method center": "{{ 'a'.center(10**9) }}",
    "method ljust": "{{ 'a'.ljust(10**9) }}",
    "method zfill": "{{ 'a'.zfill(10**9) }}",
    "filter format": "{{ '%1000000000d' | format(1) }}",
    "operator %": "{{ '%1000000000d' % 1 }}",
    "method format": "{{ '{:>1000000000}'.format('x') }}",
    "method format_map": "{{ '{x:>1000000000}'.format_map({'x': 1}) }}",
    "method expandtabs": "{{ '\t'.expandtabs(10**9) }}",
    "method replace": "{{ ('a' * 10**6).replace('a', 'b' * 10**6) }}",
    "method join": "{{ ('b' * 10**6).join('a' * 10**6) }}",
    "filter indent": "{{ ('a\n' * 10**6) | indent(10**6) }}",
    "doubling by +": "{% set n = namespace(s='aaaaaaaa') %}{% for i in range(60) %}"
    "{% set n.s = n.s + n.s %}{% endfor %}",
    "doubling by ~": "{% set n = namespace(s='aaaaaaaa') %}{% for i in range(60) %}"
    "{% set n.s = n.s ~ n.s %}{% endfor %}",
    "doubling by join": "{% set n = namespace(s='aaaaaaaa') %}{% for i in range(60) %}"
    "{% set n.s = [n.s, n.s] | join %}{% endfor %}",
    "lipsum": "{{ lipsum(n=100000) }}",
    "much output": "{% for i in range(9999) %}{{ 'a' * 9999 }}{% endfor %}",
    "recursion": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "an include of itself": "{% include 'a.j2' %}",
    "deep nesting": "{{ " + "(" * 10000 + "1" + ")" * 10000 + " }}",
    "many lists": "{{ " + "[" * 5000 + "]" * 5000 + " }}",
    "a hard search": "{{ ('a' * 30 ~ 'b') | wordwrap(1) | length }}"
    "{% for i in range(9999) %}{% for j in range(9999) %}{{ j | string | upper }}{% endfor %}"
    "{% endfor %}",
    "classes": "{{ ''.__class__.__mro__ }}",
    "classes by attr": "{{ '' | attr('__class__') }}",
    "globals": "{{ range.__globals__ }}",
    "format to classes": "{{ '{0.__class__}'.format('') }}",
    "changing values": "{{ values.update({'a': 1}) }}",
    "self": "{{ self._TemplateReference__context.environment }}",
    "cycler": "{{ cycler.__init__.__globals__.os.environ }}",
}


@pytest.mark.parametrize("text", ATTACKS.values(), ids=ATTACKS.keys())
def test_an_attack_ends_soon_and_small(text, tmp_path) -> None:
    (tmp_path / "a.j2").write_text(text)
    environment = {**ENVIRONMENT, "PATH": os.defpath, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "argocd_fluid", "generate"]
    ended = small.run(command, cwd=tmp_path, env=environment)

    assert (ended.code, ended.printed) == (1, b"")
    assert ended.said.startswith("argocd-fluid: a.j2")
    assert "this is a bug" not in ended.said
    assert len(ended.said) < 1000
    # Processor time, because other work on this machine is not the template's doing.
    assert ended.cpu_s < 3
    assert ended.seconds < 15
    assert ended.rss_kib < 300 << 10


def test_the_one_that_takes_too_long_is_named(tmp_path) -> None:
    templates = {"a.j2": b"fine", "b.j2": ATTACKS["nested ranges"].encode(), "c.j2": b"fine"}
    with pytest.raises(RenderError, match=r"^b\.j2: needs more than 2 s of processor time"):
        render(application(tmp_path), templates)


def test_the_time_of_the_rendering_holds_for_templates(tmp_path) -> None:
    templates = {"a.j2": ATTACKS["nested ranges"].encode()}
    with pytest.raises(RenderError, match="longer than the time it has"):
        render(application(tmp_path, timeout_s=0.7), templates)


MANIFEST = """
{% for i in range(values.copies) %}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ argocd.name }}-{{ i }}"}
data: {size: "{{ params.size }}"}
{% endfor %}
"""
POLICY = "apiVersion: argocd-fluid.io/v1alpha1\nkind: FluidPolicy\nspec: {values: %s}\n"


@pytest.fixture
def generate(tmp_path, monkeypatch, capsysbinary):
    def run() -> tuple[int, str, str]:
        monkeypatch.chdir(tmp_path)
        for name, value in ENVIRONMENT.items():
            monkeypatch.setenv(name, value)
        code = main(["generate"])
        done = capsysbinary.readouterr()
        return code, done.out.decode(), done.err.decode()

    return run


def test_a_template_s_manifests_come_in_the_order_of_files(generate, tmp_path, monkeypatch) -> None:
    (tmp_path / "b.yaml.j2").write_text(MANIFEST)
    (tmp_path / "fluid.yaml").write_text(POLICY % "{copies: 2}")
    for name in ("a", "c"):
        manifest = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n"
        (tmp_path / f"{name}.yaml").write_text(manifest)
    given = [{"name": "params", "map": {"size": "3"}}]
    monkeypatch.setenv("ARGOCD_APP_PARAMETERS", json.dumps(given))

    code, printed, said = generate()
    assert (code, said) == (0, "")
    objects = [json.loads(line) for line in printed.splitlines() if line != "---"]
    names = [each["metadata"]["name"] for each in objects]
    assert names == ["a", "train-0", "train-1", "c"]
    assert objects[1]["data"] == {"size": "3"}


@pytest.mark.parametrize("name", ["a.j2", "a.yaml.j2", "a.yml.j2", "a.json.j2"])
def test_every_name_of_a_template_is_read(name, generate, tmp_path) -> None:
    text = '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "{{ argocd.name }}"}}'
    (tmp_path / name).write_text(text)
    expected = '---\n{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"train"}}\n'
    assert generate() == (0, expected, "")


def test_a_line_of_the_rendered_text_says_that_it_is_one(generate, tmp_path) -> None:
    (tmp_path / "a.yaml.j2").write_text("{% for i in range(3) %}\n{% endfor %}a: b: c\n")
    code, printed, said = generate()
    assert (code, printed) == (1, "")
    assert said.startswith("argocd-fluid: a.yaml.j2 (rendered):4: is no YAML")


def test_a_template_of_macros_makes_no_manifest(generate, tmp_path) -> None:
    (tmp_path / "m.j2").write_text(
        "{# +argocd:skip-file-rendering #}{% macro m() %}x{% endmacro %}"
    )
    (tmp_path / "a.yaml.j2").write_text(
        "{% from 'm.j2' import m %}apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ m() }}}\n"
    )
    code, printed, said = generate()
    assert (code, said) == (0, "")
    assert '"name":"x"' in printed


def test_values_that_are_no_mapping_are_told(generate, tmp_path) -> None:
    (tmp_path / "fluid.yaml").write_text(POLICY % "3")
    assert generate() == (1, "", "argocd-fluid: fluid.yaml:3: spec.values: is no mapping\n")


def test_a_secret_that_a_template_writes_is_not_told(generate, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ARGOCD_ENV_PASS", "correct horse")
    (tmp_path / "a.yaml.j2").write_text("apiVersion: v1\nkind: {{ argocd.env.PASS }}\n")
    code, printed, said = generate()
    assert (code, printed) == (1, "")
    assert "correct horse" not in said
    assert "[ARGOCD_ENV_PASS]" in said
