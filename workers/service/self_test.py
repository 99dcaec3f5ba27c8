"""The self-test of a slot: it plays a canary game, and is held while the game fails.

The canary is a game between two sample bots whose moves are all known in advance. Another outcome means that
the rules, the bots, the sandbox or the machine are broken, and the slot must not play the site's games.

The test runs before the first ask, after every admission by the site and before a void is reported, so that
no broken slot reports a void. A held slot takes no work, because its Celery task does not return.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable

from engines.records import Termination
from engines.rules.registry import GAMES
from workers.jobs import EngineSpec, GameJob, GameReport, JobGame
from workers.play.batch import play_batch
from workers.play.runner import Callbacks, WorkerContext
from workers.service.slots import Slots, SlotState

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 120.0
POLL_SECONDS = 0.2
"""The longest time until a held slot notices that the worker stops."""
DIGEST = "166d4f89c9e0f0ce7d567bc53ea507ccaa7264c32af8d14a38ee5af0850e6725"
"""The expected ``digest_of`` the canary game. It changes with the first game of the registry, the two bots,
the evaluation and the random choices; the message of the failing test then contains the new value."""

log = logging.getLogger("workers.service.self_test")


class SelfTest:
    """The self-test of one slot. Its trouble is noted in ``slots``, from where the site gets it."""

    def __init__(self, slots: Slots, index: int) -> None:
        self._slots = slots
        self._index = index
        self._passed_admission = -1
        """The number of admissions at the last passed test; -1 if the test must run again."""

    def find_trouble(self, worker: WorkerContext) -> str:
        """Run the test if it is due; returns what is wrong, empty if nothing is."""
        return "" if self._passed_admission == self._slots.admissions else self.run(worker)

    def run(self, worker: WorkerContext) -> str:
        """Run the test now; returns what is wrong, empty if nothing is or the worker stops."""
        admission, self._passed_admission = self._slots.admissions, -1
        trouble = play_canary(worker, lambda: self._slots.is_stopping)
        if not trouble:
            self._passed_admission = admission
        return trouble

    def hold(self, trouble: str, retest: Callable[[], str]) -> None:
        """Call ``retest`` at intervals until it returns no trouble, or the worker stops."""
        pause = FIRST_PAUSE_SECONDS
        self._slots.enter(self._index, SlotState.HELD)
        while trouble and not self._slots.is_stopping:
            log.error("takes no work: %s", trouble)
            self._slots.set_trouble(self._index, trouble)
            self._pause(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            if not self._slots.is_stopping:
                trouble = retest()
        if not self._slots.is_stopping:
            log.warning("takes work again")
        self._slots.set_trouble(self._index, "")
        self._slots.enter(self._index, SlotState.IDLE)

    def _pause(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not self._slots.is_stopping and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, POLL_SECONDS))


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
