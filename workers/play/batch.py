"""Plays the games of one job of a slot in order, with a pool of running engines.

An engine that also plays in the next job keeps its process; ``uginewgame`` announces each game to it.
Independent of Celery: reports and progress go to callbacks.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack

from workers.engine.players import UgiPlayer
from workers.jobs import GameJob, JobGame, RestartMode
from workers.logs import log_ids
from workers.play.runner import Callbacks, GameRunner, PooledEngine, Stopped, WorkerContext, report_of

LONGEST_SECONDS = 20.0
"""The time after which no further job of a batch begins, so that slow engines do not delay other games."""


class EnginePool:
    """The engines that run in this process."""

    def __init__(self, worker: WorkerContext) -> None:
        self._worker = worker
        self._running: list[PooledEngine] = []

    def take(self, job: GameJob) -> tuple[PooledEngine, PooledEngine]:
        """Both engines in the order of the job, two processes also where both are the same engine.

        Engines that have no part in the job are closed, except with ``RestartMode.OFF``.
        """
        idle, taken = list(self._running), []
        for spec in job.engines:
            engine = next((one for one in idle if (one.spec, one.ladder) == (spec, job.game)), None)
            if engine is None:
                engine = PooledEngine(spec, job.game, self._worker)
            else:
                idle.remove(engine)
            taken.append(engine)
        kept = [one for one in idle if one.spec.restart is RestartMode.OFF]
        self._running = taken + kept
        _end([one for one in idle if one not in kept], UgiPlayer.close)
        one, two = taken
        return one, two

    def clear(self, *, at_once: bool) -> None:
        """End all engines; ``at_once`` does not wait for them to quit."""
        _end(self._running, UgiPlayer.kill if at_once else UgiPlayer.close)
        self._running = []


def _end(engines: Iterable[PooledEngine], end: Callable[[UgiPlayer], None]) -> None:
    """End each engine, even if ending another one raises."""
    with ExitStack() as stack:
        for engine in engines:
            stack.callback(end, engine.player)


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
            runner = GameRunner(job, both, callbacks.on_progress, is_stopped, callbacks.is_watched)
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
