"""Attacks on the worker by output alone: too much, too little, too early, or with control characters."""

from __future__ import annotations

from tests.support.hostile.attack import Attack
from tests.support.hostile.observation import Observation

CONVERSATION = "the worker's limits stop it, not the sandbox: see tests/workers/play/test_bad_engines.py"
WORKER_BYTES = 150 * 1024 * 1024


def grew(seen: Observation) -> bool:
    return seen.worker_bytes > WORKER_BYTES


def escaped_blame_or_grew(seen: Observation) -> bool:
    """Whether the game was not forfeited by the attacker, or the worker grew."""
    return seen.fault != "white" or grew(seen)


def by_output(name: str, plan: str, verdict: str, time_control: str = "30+0") -> Attack:
    """``\\x20`` is a space within a detail."""
    words = tuple(word.replace(r"\x20", " ") for word in plan.split())
    judged = grew if verdict == "ply limit" else escaped_blame_or_grew
    return Attack(name, words, judged, verdict=verdict, unshown=CONVERSATION, time_control=time_control)


ATTACKS = [
    by_output("floods its output", r"go:2 flood 1\x20info\x20x\n", "flood"),
    by_output("never ends a line", r"go:2 flood 1\x20x", "flood"),
    by_output("floods its error output", r"go:2 flood 2\x20x\n", "flood"),
    by_output(
        "sends lines slowly to keep the clock from ending", r"go:2 drip info\x20x\n", "time forfeit", "1+0"
    ),
    by_output("hangs and ignores all signals", "go:2 resist -", "time forfeit", "1+0"),
    by_output("stops itself", "go:2 stop -", "time forfeit", "1+0"),
    by_output("closes its output", "go:2 close 1", "time forfeit", "1+0"),
    by_output("answers in advance", r"go:1 also bestmove\x20a1+\n", "illegal move"),
    by_output(
        "sends control sequences to the reader's terminal",
        r"go:2 also info\x20string\x20\x1b]0;x\x07\x1b[31m\x00\xff\n",
        "ply limit",
    ),
    by_output(
        "has a hostile name",
        r"""ugi also id\x20name\x20"]\\n[Result\x20"1-0"]\x1b[2J\x00\xe2\x80\xae<script>\n""",
        "ply limit",
    ),
    by_output(
        "sends hostile lines of play",
        r"go:2 also info\x20score\x20cp\x201\x20pv\x20}\x1b[2J\x20{\x00\n",
        "ply limit",
    ),
]
