"""The pool of running engines: processes are kept from job to job while the same engines play."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from workers.jobs import EngineSpec, GameJob
from workers.play.runner import Introduction, PooledEngine, WorkerContext


class RestartMode(enum.StrEnum):
    """When an engine's process is restarted, except after a fault, which always restarts it."""

    ON = "on"
    """Before every game."""
    AUTO = "auto"
    """When a job without it begins: at most two engines run at a time."""
    OFF = "off"
    """Never: it keeps running until the pool is cleared."""


@dataclass(frozen=True, slots=True)
class _Running:
    """An engine of the pool; an engine plays one ladder."""

    spec: EngineSpec
    ladder: str
    restart: RestartMode
    engine: PooledEngine


class EnginePool:
    """The engines that run in this process."""

    def __init__(self, worker: WorkerContext, on_introduced: Introduction | None = None) -> None:
        self._worker = worker
        self._on_introduced = on_introduced or (lambda spec, unsuited: None)
        self._running: list[_Running] = []

    def take(
        self,
        job: GameJob,
        restart: tuple[RestartMode, RestartMode] = (RestartMode.AUTO, RestartMode.AUTO),
        ready_seconds: tuple[int | None, int | None] = (None, None),
    ) -> tuple[PooledEngine, PooledEngine]:
        """Both engines in the order of the job, two processes also where both are the same engine.

        Engines that have no part in the job are closed, except with ``RestartMode.OFF``. ``ready_seconds``
        None is the usual time limit of a start.
        """
        idle, taken = list(self._running), []
        for spec, mode, ready in zip(job.engines, restart, ready_seconds, strict=True):
            found = next((one for one in idle if (one.spec, one.ladder) == (spec, job.game)), None)
            if found is None:
                engine = PooledEngine(spec, job.game, self._worker, ready, self._on_introduced)
                found = _Running(spec, job.game, mode, engine)
            else:
                idle.remove(found)
            taken.append(found)
        kept = [one for one in idle if one.restart is RestartMode.OFF]
        self._running = taken + kept
        _end([one.engine for one in idle if one.restart is not RestartMode.OFF])
        one, two = taken
        return one.engine, two.engine

    def begin_game(self) -> None:
        """Close the engines that are restarted before every game."""
        _end([one.engine for one in self._running if one.restart is RestartMode.ON], restarts=True)

    def clear(self, *, at_once: bool) -> None:
        """End all engines; ``at_once`` does not wait for them to quit."""
        _end([one.engine for one in self._running], at_once=at_once)
        self._running = []


def _end(engines: Sequence[PooledEngine], *, at_once: bool = False, restarts: bool = False) -> None:
    """End each engine, even if ending another one raises."""
    with ExitStack() as stack:
        for engine in engines:
            if at_once:
                stack.callback(engine.kill)
            else:
                stack.callback(engine.close, restarts=restarts)
