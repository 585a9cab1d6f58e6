"""Renders templates in a process that can do nothing else. Run as a script, never imported.

It has no part of argocd-fluid: what it needs comes as JSON on stdin, what it made goes as a line of
JSON per template to stdout. Memory, processor time, size and open files are limited before the
first template is read, because Jinja2's sandbox bounds none of them.
"""

import json
import resource
import sys
from collections.abc import Callable, Iterator, Mapping, Sized
from types import TracebackType
from typing import Any, Final

from jinja2 import FunctionLoader, StrictUndefined, TemplateSyntaxError
from jinja2.exceptions import SecurityError, TemplateError, TemplateNotFound
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

MAX_MEMORY: Final = 256 << 20
MAX_TEXT: Final = 8 << 20
"""Of one rendered template, and of any text that an operator makes."""
MAX_BITS: Final = 4096
MAX_RANGE: Final = 10_000


class TooMuch(SecurityError):
    """A template asks for more than it may have."""


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja2 without what has no bounds."""

    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def call_binop(self, context: Context, operator: str, left: object, right: object) -> object:
        """Refuse what would be too large, before it is made."""
        _CHECKS[operator](left, right)
        return super().call_binop(context, operator, left, right)


def _check_times(left: object, right: object) -> None:
    for text, times in ((left, right), (right, left)):
        if isinstance(text, str | bytes | list | tuple) and isinstance(times, int):
            _bound(len(text) * times, MAX_TEXT)
    if isinstance(left, int) and isinstance(right, int):
        _bound(left.bit_length() + right.bit_length(), MAX_BITS)


def _check_power(left: object, right: object) -> None:
    if isinstance(left, int) and isinstance(right, int):
        _bound(left.bit_length() * abs(right), MAX_BITS)


def _check_format(left: object, _: object) -> None:
    # A width in a format makes a text of any length out of nothing.
    if isinstance(left, str | bytes):
        raise TooMuch("`%` formats no text here; use `~` to join")


def _check_plus(left: object, right: object) -> None:
    if isinstance(left, Sized) and isinstance(right, Sized):
        _bound(len(left) + len(right), MAX_TEXT)


def _bound(size: int, limit: int) -> None:
    if size > limit:
        raise TooMuch("makes a value that is too large")


_CHECKS: Final[Mapping[str, Callable[[object, object], None]]] = {
    "*": _check_times,
    "**": _check_power,
    "%": _check_format,
    "+": _check_plus,
}


def bounded_range(*bounds: int) -> range:
    """Give a range of at most MAX_RANGE numbers."""
    # An undefined value tells its name when it is counted with, and not when it is converted.
    numbers = range(*(bound + 0 for bound in bounds))
    if len(numbers) > MAX_RANGE:
        raise TooMuch(f"a range of more than {MAX_RANGE} numbers")
    return numbers


def environment(templates: Mapping[str, str]) -> Sandbox:
    """Make the environment; templates can include each other, and nothing else."""

    def load(name: str) -> tuple[str, str, Callable[[], bool]] | None:
        return (templates[name], name, lambda: True) if name in templates else None

    made = Sandbox(
        loader=FunctionLoader(load),
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
        cache_size=0,
    )
    for name in ("lipsum", "cycler", "joiner"):
        del made.globals[name]
    made.globals["range"] = bounded_range
    # They make texts of any width out of a number.
    for name in ("format", "center", "random", "pprint", "xmlattr", "urlize"):
        del made.filters[name]
    return made


def rendered(sandbox: Sandbox, name: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """Render one template: its text, or the problem with its line."""
    try:
        return {"text": _text(sandbox, name, context)}
    except TemplateSyntaxError as error:
        return {"problem": str(error.message), "file": error.name, "line": error.lineno}
    except Exception as error:
        return {"problem": _problem(error), **_place(error, name)}


def _text(sandbox: Sandbox, name: str, context: Mapping[str, Any]) -> str:
    parts: list[str] = []
    size = 0
    for part in sandbox.get_template(name).generate(context):
        parts.append(part)
        size += len(part)
        _bound(size, MAX_TEXT)
    return "".join(parts)


def _problem(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return f"needs more than {MAX_MEMORY >> 20} MiB of memory"
    if isinstance(error, RecursionError):
        return "calls itself without end"
    if isinstance(error, TemplateNotFound):
        return f"there is no template {error.name} to include"
    if isinstance(error, TemplateError):
        return str(error.message)
    # Whatever an expression of the template does wrong, as 1/0.
    return f"{type(error).__name__}: {error}"


def _place(error: BaseException, name: str) -> dict[str, Any]:
    """Give the innermost place in a template; Jinja2 rewrites tracebacks to their lines."""
    places = [
        (frame.tb_frame.f_code.co_filename, frame.tb_lineno)
        for frame in _frames(error.__traceback__)
        if frame.tb_frame.f_globals.get("__jinja_template__") is not None
        or frame.tb_frame.f_code.co_filename.endswith(".j2")
    ]
    file, line = places[-1] if places else (name, None)
    return {"file": file, "line": line}


def _frames(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def warm_up() -> None:
    """Make Python and Jinja2 import what they need, while files can still be opened."""
    for text in ("{{ 'a' | wordwrap | striptags | tojson }}", "{{ 1 / 0 }}", "{% for %}"):
        rendered(environment({"a": text}), "a", {})


def limit(cpu_s: int) -> None:
    """Give up what templates never need."""
    for what, value in (
        (resource.RLIMIT_AS, MAX_MEMORY),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        # Nothing can be opened any more: every number below it is taken.
        (resource.RLIMIT_NOFILE, 3),
    ):
        # Whoever started this may have set a lower one already.
        hard = resource.getrlimit(what)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(what, (bound, bound))


def main() -> None:
    """Read the job, then answer template by template, so that the last one can be told."""
    job = json.loads(sys.stdin.buffer.read())
    sandbox = environment(job["templates"])
    warm_up()
    limit(job["cpuSeconds"])
    for name in job["templates"]:
        answer = json.dumps(rendered(sandbox, name, job["context"]))
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
