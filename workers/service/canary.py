"""The canary: a game between two sample bots whose moves are all known in advance.

The process that plays the site's games plays it too, in the same sandbox. Another outcome means that the
rules, the bots, the sandbox or the machine are broken, and the slot must not play the site's games.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from engines.records import Termination
from engines.rules.registry import GAMES
from workers.jobs import EngineSpec, GameJob, GameReport, JobGame
from workers.play.batch import play_batch
from workers.play.runner import Callbacks, WorkerContext

DIGEST = "166d4f89c9e0f0ce7d567bc53ea507ccaa7264c32af8d14a38ee5af0850e6725"
"""The expected ``digest_of`` the game. It changes with the first game of the registry, the two bots, the
evaluation and the random choices;
the message of the failing test then contains the new value."""


def canary_job() -> GameJob:
    """One short game, the same each time: its seed fixes the bots' choices. Its clocks limit its time."""
    return GameJob(
        job="canary",
        game=next(iter(GAMES)),
        engines=(_sample("random_bot"), _sample("greedy_bot")),
        games=(JobGame("canary", "canary", 0),),
        time_control="20+0",
        ply_limit=24,
        seed=1,
    )


def play_canary(worker: WorkerContext, is_stopping: Callable[[], bool] = lambda: False) -> str:
    """Play the canary game; returns what is wrong in a sentence, empty if nothing is or it was aborted."""
    reports: list[GameReport] = []
    play_batch([canary_job()], worker, Callbacks(reports.append, lambda progress: None, is_stopping))
    return judge_canary(reports[0]) if reports else ""


def judge_canary(report: GameReport) -> str:
    """What is wrong with the report, in a sentence; empty if nothing is."""
    if digest_of(report) == DIGEST:
        return ""
    if report.termination in {Termination.RULES, Termination.PLY_LIMIT, Termination.REPETITION}:
        return "the canary game was played with other moves than it must have"
    evidence = f": {report.evidence}" if report.evidence else ""
    return f"the canary game ended in {report.termination}{evidence}"


def digest_of(report: GameReport) -> str:
    """A digest that is equal for games with the same moves, result and termination."""
    words = (*(token for token, _ in report.moves), report.result, report.termination)
    return hashlib.sha256(" ".join(words).encode()).hexdigest()


def _sample(module: str) -> EngineSpec:
    return EngineSpec(module, "canary", ("python3", "-m", f"engines.bots.{module}"), trusted=True)
