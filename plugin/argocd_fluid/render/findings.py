"""What `lint` found, and how it is written: for people, programs, and code hosts."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from argocd_fluid import __version__
from argocd_fluid.errors import Where
from argocd_fluid.records import dataclass
from argocd_fluid.render.rules.table import RULES, Level, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of a report. `hint` is more exact than the rule's remedy, where it is given."""

    rule: Rule
    level: Level
    where: Where
    problem: str
    hint: str = ""

    @property
    def remedy(self) -> str:
        """Say what to do."""
        return self.hint or self.rule.remedy


def as_text(findings: Iterable[Finding]) -> str:
    """Write for a terminal: a line that editors can follow, and below it the remedy."""
    listed = list(findings)
    lines: list[str] = []
    for finding in listed:
        place = f"{finding.where}: " if str(finding.where) else ""
        lines.append(f"{place}{finding.level}: {finding.problem} [{finding.rule.id}]")
        lines.append(f"  remedy: {finding.remedy}")
    counts = [(level, sum(each.level is level for each in listed)) for level in Level]
    summary = ", ".join(f"{number} {level}{'s' * (number != 1)}" for level, number in counts)
    return "".join(f"{line}\n" for line in (*lines, summary))


def as_json(findings: Iterable[Finding]) -> str:
    """Write for programs."""
    listed = [
        {
            "id": finding.rule.id,
            "level": finding.level,
            "file": finding.where.file,
            "line": finding.where.line,
            "object": finding.where.document,
            "field": finding.where.field,
            "problem": finding.problem,
            "remedy": finding.remedy,
        }
        for finding in findings
    ]
    return json.dumps({"findings": listed}, indent=2) + "\n"


def as_github(findings: Iterable[Finding]) -> str:
    """Write workflow commands, which GitHub shows at the lines of a pull request."""
    kinds = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}
    return "".join(
        f"::{kinds[each.level]} {_properties(each)}::{_body(each)}\n" for each in findings
    )


def _properties(finding: Finding) -> str:
    given = {
        "file": finding.where.file,
        "line": finding.where.line,
        "title": f"{finding.rule.id} {finding.rule.title}",
    }
    return ",".join(f"{key}={_property(str(value))}" for key, value in given.items() if value)


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def _body(finding: Finding) -> str:
    place = ": ".join(part for part in (finding.where.document, finding.where.field) if part)
    head = f"{place}: " if place else ""
    return _message(f"{head}{finding.problem} ({finding.remedy})")


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def as_sarif(findings: Iterable[Finding]) -> str:
    """Write SARIF 2.1.0."""
    driver = {
        "name": "argocd-fluid",
        "version": __version__,
        "rules": [_sarif_rule(rule) for rule in RULES],
    }
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {"tool": {"driver": driver}, "results": [_sarif_result(each) for each in findings]}
        ],
    }
    return json.dumps(log, indent=2) + "\n"


def _sarif_rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": rule.level},
    }


def _sarif_result(finding: Finding) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule.id,
        "ruleIndex": RULES.index(finding.rule),
        "level": finding.level,
        "message": {"text": f"{finding.problem} ({finding.remedy})"},
    }
    if finding.where.file:
        result["locations"] = [_sarif_location(finding.where)]
    return result


def _sarif_location(where: Where) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(where.file)}}
    if where.line is not None:
        physical["region"] = {"startLine": where.line}
    location: dict[str, Any] = {"physicalLocation": physical}
    named = ": ".join(part for part in (where.document, where.field) if part)
    if named:
        location["logicalLocations"] = [{"fullyQualifiedName": named}]
    return location


def _uri(file: str) -> str:
    from urllib.parse import quote  # noqa: PLC0415 - costs as much as the rest of a report

    return quote(file)


FORMATS: Final[Mapping[str, Callable[[Iterable[Finding]], str]]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
}
