"""The findings of a compliance check, and their text form."""

from __future__ import annotations

from dataclasses import dataclass

from engines.visible import visible
from workers.jobs import Finding

SHOWN_LINES = 14
"""How many of the last lines are shown, of the exchanged lines and of standard error."""
SHOWN_WIDTH = 150
NAME_WIDTH = 34
REFUSES = "A site refuses a bot with this fault."
MENTIONS = "A site accepts a bot with this fault, and mentions it."


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All findings of a compliance check, in order."""

    engine: str
    """The name from ``id name``; ``""`` if the engine sent none."""
    findings: tuple[Finding, ...]
    seconds: float

    @property
    def faults(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.fault)

    @property
    def is_clean(self) -> bool:
        """Whether every check ran and found no fault."""
        return all(finding.was_tried and not finding.fault for finding in self.findings)


def format_finding(finding: Finding) -> str:
    """One line for a passed check; for a fault also the advice and the last lines exchanged."""
    name = f"{finding.check} ({finding.ladder})" if finding.ladder else finding.check
    parts = [f"{name:{NAME_WIDTH}} {_outcome(finding)}"]
    if finding.same_as:
        return parts[0]
    if finding.fault:
        parts.append(f"    What to do: {finding.advice}")
        parts.append(f"    {REFUSES if finding.is_grave else MENTIONS}")
    logs = {
        "lines exchanged (seconds, > to the engine, < from it)": finding.lines,
        "lines of its standard error": finding.stderr,
    }
    for what, text in logs.items():
        if text:
            parts += [f"    The last {what}:", *_last_lines(text)]
    return "\n".join(parts)


def _outcome(finding: Finding) -> str:
    if finding.same_as:
        return f"FAULT: the same as in {finding.same_as}"
    if finding.fault:
        return f"FAULT: {visible(finding.fault)}"
    if finding.was_tried:
        return "ok"
    return "aborted when the time was up" if finding.lines else "not tried"


def format_summary(report: CheckReport) -> str:
    """The last line of a report: the number of faults and checks."""
    untried = sum(not finding.was_tried for finding in report.findings)
    tried = _counted(len(report.findings) - untried, "check")
    faults = _counted(len(report.faults), "fault") if report.faults else "no fault"
    if report.faults:
        faults += f" ({sum(one.is_grave for one in report.faults)} for which a site refuses a bot)"
    left = f"; {untried} more were not tried" if untried else ""
    name = visible(report.engine, NAME_WIDTH) or "the engine"
    return f"{name}: {faults} in {tried}, {report.seconds:.1f} s{left}"


def _counted(number: int, thing: str) -> str:
    return f"1 {thing}" if number == 1 else f"{number} {thing}s"


def _last_lines(text: str) -> list[str]:
    """The last lines of ``text``, cut to ``SHOWN_WIDTH`` and without control characters."""
    lines = text.splitlines()[-SHOWN_LINES:]
    cut = [line if len(line) <= SHOWN_WIDTH else f"{line[:SHOWN_WIDTH]}…" for line in lines]
    return [f"      {visible(line)}" for line in cut]
