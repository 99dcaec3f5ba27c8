"""The pool of running engines: processes are kept from job to job while the same engines play."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack

from workers.engine.players import UgiPlayer
from workers.jobs import GameJob, RestartMode
from workers.play.runner import Introduction, PooledEngine, WorkerContext


class EnginePool:
    """The engines that run in this process."""

    def __init__(
        self, worker: WorkerContext, on_introduced: Introduction = lambda spec, unsuited: None
    ) -> None:
        self._worker = worker
        self._on_introduced = on_introduced
        self._running: list[PooledEngine] = []

    def take(self, job: GameJob) -> tuple[PooledEngine, PooledEngine]:
        """Both engines in the order of the job, two processes also where both are the same engine.

        Engines that have no part in the job are closed, except with ``RestartMode.OFF``.
        """
        idle, taken = list(self._running), []
        for spec in job.engines:
            engine = next((one for one in idle if (one.spec, one.ladder) == (spec, job.game)), None)
            if engine is None:
                engine = PooledEngine(spec, job.game, self._worker, self._on_introduced)
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
