"""On the worker by words alone: too many, too few, too early, and such as people should never see."""

from __future__ import annotations

from tests.support.hostile.attack import Attack
from tests.support.hostile.seen import Seen

CONVERSATION = "the limits of the worker hold it, not the sandbox: see tests/workers/play/test_bad_engines.py"
WORKER_BYTES = 150 * 1024 * 1024


def grew(seen: Seen) -> bool:
    return seen.worker_bytes > WORKER_BYTES


def told_otherwise(seen: Seen) -> bool:
    """The opponent or nobody was blamed, or the worker grew."""
    return seen.fault != "white" or grew(seen)


def spoken(name: str, plan: str, verdict: str, time_control: str = "30+0") -> Attack:
    """``\\x20`` is a space within a detail."""
    words = tuple(word.replace(r"\x20", " ") for word in plan.split())
    judged = grew if verdict == "ply limit" else told_otherwise
    return Attack(name, words, judged, verdict=verdict, unshown=CONVERSATION, time_control=time_control)


ATTACKS = [
    spoken("floods its output", r"go:2 flood 1\x20info\x20x\n", "flood"),
    spoken("never ends a line", r"go:2 flood 1\x20x", "flood"),
    spoken("floods its error output", r"go:2 flood 2\x20x\n", "flood"),
    spoken("drips to keep the clock from ending", r"go:2 drip info\x20x\n", "time forfeit", "1+0"),
    spoken("hangs, deaf to all signals", "go:2 resist -", "time forfeit", "1+0"),
    spoken("stops itself", "go:2 stop -", "time forfeit", "1+0"),
    spoken("closes its output", "go:2 close 1", "time forfeit", "1+0"),
    spoken("answers in advance", r"go:1 also bestmove\x20a1+\n", "illegal move"),
    spoken(
        "talks to the reader's terminal",
        r"go:2 also info\x20string\x20\x1b]0;x\x07\x1b[31m\x00\xff\n",
        "ply limit",
    ),
    spoken(
        "has a hostile name",
        r"""ugi also id\x20name\x20"]\\n[Result\x20"1-0"]\x1b[2J\x00\xe2\x80\xae<script>\n""",
        "ply limit",
    ),
    spoken(
        "tells hostile lines of play",
        r"go:2 also info\x20score\x20cp\x201\x20pv\x20}\x1b[2J\x20{\x00\n",
        "ply limit",
    ),
]
