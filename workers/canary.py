"""The canary: a game between two sample bots whose every move is known.

Played by the very process that plays games, behind the same walls. If it does not end as it must,
something is wrong with the rules, the bots, the sandbox or the machine, and that slot is not to be
trusted with anybody's games.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from engines.records import Termination
from workers.jobs import EngineSpec, GameJob, GameReport, JobGame
from workers.parcel import play_parcel
from workers.runner import Line, Worker

DIGEST = "fee3a3f0c8d44c5fa4b423c0bc2f44a90de6556e6d4f301ea85b39a506bdce5a"
"""Of the game as it must come out. Whoever changes one of the two bots, the evaluation or the way lots
are drawn finds the new one in the test's complaint."""


def canary_job() -> GameJob:
    """One short game, the same each time: the bots draw lots by its seed. It has clocks, so that it ends."""
    return GameJob(
        job="canary",
        game="dogon-kulei",
        engines=(_sample("random_bot"), _sample("greedy_bot")),
        games=(JobGame("canary", "canary", 0),),
        time_control="20+0",
        ply_limit=24,
        seed=1,
    )


def play_canary(worker: Worker, is_stopping: Callable[[], bool] = lambda: False) -> str:
    """Play it; returns what was wrong in one sentence, empty if it went as it must or was broken off."""
    reports: list[GameReport] = []
    play_parcel([canary_job()], worker, Line(reports.append, lambda progress: None, is_stopping))
    return judge_canary(reports[0]) if reports else ""


def judge_canary(report: GameReport) -> str:
    """What is wrong with how it came out, in one sentence."""
    if digest_of(report) == DIGEST:
        return ""
    if report.termination in {Termination.RULES, Termination.PLY_LIMIT, Termination.REPETITION}:
        return "the canary game was played with other moves than it must have"
    evidence = f": {report.evidence}" if report.evidence else ""
    return f"the canary game ended in {report.termination}{evidence}"


def digest_of(report: GameReport) -> str:
    """Equal for games with the same moves and the same end."""
    words = (*(token for token, _ in report.moves), report.result, report.termination)
    return hashlib.sha256(" ".join(words).encode()).hexdigest()


def _sample(module: str) -> EngineSpec:
    return EngineSpec(module, "canary", ("python3", "-m", f"engines.bots.{module}"), trusted=True)
