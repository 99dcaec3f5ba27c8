"""Plays the jobs of one message in order.

An engine that also plays in the next job keeps its process; ``uginewgame`` announces each game to it.
Independent of Celery: reports and progress go to callbacks.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence

from workers.jobs import GameJob, JobGame
from workers.logs import log_ids
from workers.play.pool import EnginePool
from workers.play.runner import Callbacks, GameRunner, Stopped, WorkerContext, report_of

LONGEST_SECONDS = 20.0
"""After this time no further job of a batch begins, so that slow engines do not delay other games."""


def play_batch(
    jobs: Sequence[GameJob],
    worker: WorkerContext,
    callbacks: Callbacks,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[JobGame, ...]:
    """Play all games in order; returns those not played, after a stop or after ``LONGEST_SECONDS``.

    Void and forfeited games do not affect the others, nor does a game whose attempt is stopped: that one is
    neither reported nor returned. All engines have ended on return, also after an exception.
    """

    def is_stopped(attempt: str) -> bool:
        return callbacks.is_stopping() or callbacks.is_stopped(attempt)

    late = clock() + LONGEST_SECONDS
    left = deque(game for job in jobs for game in job.games)
    engines = EnginePool(worker)
    try:
        for number, job in enumerate(jobs):
            if number and clock() > late:
                break
            both = engines.take(job)
            runner = GameRunner(job, both, worker, callbacks.on_progress, is_stopped)
            for game in job.games:
                with log_ids(game=game.key):
                    try:
                        callbacks.on_report(report_of(runner.play(game), worker))
                    except Stopped:
                        if callbacks.is_stopping():
                            raise
                        for engine in both:
                            engine.player.kill()  # the next game starts it again
                left.popleft()
    except Stopped:
        pass
    finally:
        engines.clear(at_once=callbacks.is_stopping())
    return tuple(left)
