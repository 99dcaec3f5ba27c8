"""What was seen of an attack from outside."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from workers.jobs import GameReport

_LOOT = re.compile(r"< info string loot (.*)")


@dataclass(frozen=True, slots=True)
class Seen:
    """``loot`` and ``heard`` are what the attacker and its opponent brought home, as they say."""

    termination: str = ""
    fault: str = ""
    evidence: str = ""
    loot: Any = None
    heard: Any = None
    stderr: str = ""
    second_move_cpu_seconds: float = 0.0
    contacts: Sequence[str] = ()
    """Listeners of the trial that were reached."""
    terminal: str = ""
    """What was written on the worker's terminal, and typed into it."""
    changed: bool = False
    """Whether the attacker's folder is not as it was."""
    survivors: int = 0
    groups: int = 0
    """Control groups left."""
    most_processes: int = 0
    """At once, the worker's own and the opponent's included."""
    worker_bytes: int = 0
    worker_limit: int = 0
    """Of message queues: one that an attacker may set unnoticed."""
    worker_nicer: int = 0
    """How much further behind others it waits than it did before the game."""
    controls: bool = False
    """Whether a control character came through to where people read."""
    number: int = 0
    """What was to be handed over."""
    alive: bool = field(default=False)
    """Whether the worker lived to tell all this."""

    def to_line(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_line(cls, line: str) -> Seen:
        return cls(**json.loads(line))


def told_in(lines: str) -> Any:
    """The last loot that an engine told of."""
    told = _LOOT.findall(lines)
    return json.loads(told[-1]) if told else None


def report_fields(report: GameReport) -> dict[str, Any]:
    """What a report tells of the game."""
    comments = [comment for _, comment in report.moves]
    spent = re.search(r"cpu ([\d.]+)s", comments[2]) if len(comments) > 2 else None
    return {
        "termination": report.termination,
        "fault": report.fault,
        "evidence": report.evidence,
        "loot": told_in(report.white.lines),
        "heard": told_in(report.black.lines),
        "stderr": report.white.stderr[-2000:],
        "second_move_cpu_seconds": float(spent[1]) if spent else 0.0,
    }
