"""What is told of a check: values, and their words."""

from __future__ import annotations

from dataclasses import dataclass

from engines.visible import visible

SHOWN_LINES = 14
"""The last of a conversation, and of standard error."""
SHOWN_WIDTH = 150
NAME_WIDTH = 34


@dataclass(frozen=True, slots=True)
class Finding:
    """How one check went on one ladder (``""``: it is about none).

    ``fault`` is a sentence, ``""`` if all is well; ``lines`` (``>`` to the engine, ``<`` from it, each with
    its seconds) and ``stderr`` are what led to it. ``was_tried`` is False when there was no time left for it,
    or too little: then ``lines`` are what there was time for.
    """

    check: str
    ladder: str
    fault: str = ""
    advice: str = ""
    lines: str = ""
    stderr: str = ""
    was_tried: bool = True
    is_grave: bool = False
    """A fault that loses games or takes something from others."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All of a check, in the order it was tried."""

    engine: str
    """As it calls itself; ``""`` when it did not come to that."""
    findings: tuple[Finding, ...]
    seconds: float

    @property
    def faults(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.fault)

    @property
    def is_clean(self) -> bool:
        """Everything was tried and went well."""
        return all(finding.was_tried and not finding.fault for finding in self.findings)


def format_finding(finding: Finding) -> str:
    """A line for what went well; for a fault what came, what to do, and the lines exchanged."""
    name = f"{finding.check} ({finding.ladder})" if finding.ladder else finding.check
    parts = [f"{name:{NAME_WIDTH}} {_outcome(finding)}"]
    if finding.fault:
        parts.append(f"    What to do: {finding.advice}")
    if finding.lines:
        parts.append("    The last lines exchanged (seconds, > to the engine, < from it):")
        parts += _last_lines(finding.lines)
    if finding.stderr:
        parts.append("    The last lines of its standard error:")
        parts += _last_lines(finding.stderr)
    return "\n".join(parts)


def _outcome(finding: Finding) -> str:
    if finding.fault:
        return f"FAULT: {visible(finding.fault)}"
    if finding.was_tried:
        return "ok"
    return "broken off when the time was up" if finding.lines else "not tried"


def format_summary(report: CheckReport) -> str:
    """The last line: what was tried, and how it came out."""
    untried = sum(not finding.was_tried for finding in report.findings)
    tried = _counted(len(report.findings) - untried, "check")
    faults = _counted(len(report.faults), "fault") if report.faults else "no fault"
    left = f"; {untried} more were not tried" if untried else ""
    name = visible(report.engine, NAME_WIDTH) or "the engine"
    return f"{name}: {faults} in {tried}, {report.seconds:.1f} s{left}"


def _counted(number: int, thing: str) -> str:
    return f"1 {thing}" if number == 1 else f"{number} {thing}s"


def _last_lines(text: str) -> list[str]:
    """The last of ``text``, each cut to a width fit for a terminal and free of its controls."""
    lines = text.splitlines()[-SHOWN_LINES:]
    cut = [line if len(line) <= SHOWN_WIDTH else f"{line[:SHOWN_WIDTH]}…" for line in lines]
    return [f"      {visible(line)}" for line in cut]
