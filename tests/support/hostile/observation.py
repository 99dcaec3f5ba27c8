"""What a trial observed of an attack from outside."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from workers.jobs import GameReport

_RESULT = re.compile(r"< info string result (.*)")


@dataclass(frozen=True, slots=True)
class Observation:
    """``result`` and ``opponent_result`` are the results that the two engines report in ``info`` lines."""

    termination: str = ""
    fault: str = ""
    evidence: str = ""
    result: Any = None
    opponent_result: Any = None
    stderr: str = ""
    second_move_cpu_seconds: float = 0.0
    contacts: Sequence[str] = ()
    """Listeners of the trial that were reached."""
    terminal: str = ""
    """What was written on the worker's terminal, and typed into it."""
    changed: bool = False
    """Whether the attacker's folder was changed."""
    survivors: int = 0
    groups: int = 0
    """Control groups left."""
    most_processes: int = 0
    """The highest number at one time, including those of the worker and of the opponent."""
    worker_bytes: int = 0
    worker_limit: int = 0
    """The worker's limit of message queues, a limit that an attacker can change without other effects."""
    worker_nice_increase: int = 0
    """By how much the worker's nice value rose during the game."""
    has_controls: bool = False
    """Whether a control character is in a text that people read."""
    number: int = 0
    """The number that one engine is to pass to the other."""
    alive: bool = field(default=False)
    """Whether the worker survived and reported this."""

    def to_line(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_line(cls, line: str) -> Observation:
        return cls(**json.loads(line))


def last_result(lines: str) -> Any:
    """The last result in an engine's lines; None if there is none."""
    results = _RESULT.findall(lines)
    return json.loads(results[-1]) if results else None


def report_fields(report: GameReport) -> dict[str, Any]:
    """The fields that are read from the report of the game."""
    comments = [comment for _, comment in report.moves]
    spent = re.search(r"cpu ([\d.]+)s", comments[2]) if len(comments) > 2 else None
    return {
        "termination": report.termination,
        "fault": report.fault,
        "evidence": report.evidence,
        "result": last_result(report.white.lines),
        "opponent_result": last_result(report.black.lines),
        "stderr": report.white.stderr[-2000:],
        "second_move_cpu_seconds": float(spent[1]) if spent else 0.0,
    }
