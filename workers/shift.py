"""One message played: its jobs in order by a slot that is fit to, and everything reported or given back.

Knows no queue: what it has to tell goes to functions.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from engines.records import Termination
from workers.bundle_site import SiteAway
from workers.fitness import Fitness
from workers.jobs import EngineSpec, GameJob, GameReport, JobError, JobGame, Progress, Release
from workers.parcel import play_parcel
from workers.runner import PROGRESS_SECONDS, Line, Stopped, Worker, refuse_job
from workers.slots import Slots, SlotState

log = logging.getLogger("workers.shift")


@dataclass(frozen=True, slots=True)
class Told:
    """Where a shift's words go: a game that ended, one under way, games given back."""

    on_report: Callable[[GameReport], None]
    on_progress: Callable[[Progress], None]
    on_release: Callable[[Sequence[Release]], None]


@dataclass(slots=True)
class Shift:
    """What a slot does with one message after another."""

    worker: Worker
    slots: Slots
    index: int
    fitness: Fitness
    told: Told
    _trouble: str = field(default="", init=False)
    _look: Callable[[], str] = field(default=lambda: "", init=False)

    def play(self, messages: Sequence[object]) -> None:
        """Play the jobs of a message; what an unfit slot, or one that is to stop, leaves is given back."""
        self._trouble = ""
        self.slots.enter(self.index, SlotState.BUSY)
        try:
            jobs = [job for job in self._read(messages) if job.games]
            left = tuple(game for job in jobs for game in job.games)
            if left and not self._is_over() and self.is_fit() and self._fetch(jobs):
                left = play_parcel(
                    jobs, self.worker, Line(self._report, self.told.on_progress, self._is_over)
                )
            if left:
                self._release(left)
        finally:
            self.slots.enter(self.index, SlotState.IDLE)

    def recover(self) -> None:
        """Hold the slot for as long as it has the trouble it found; what it played is on its way by then."""
        if self._trouble:
            try:
                self.fitness.hold(self._trouble, self._look)
            finally:
                self.slots.enter(self.index, SlotState.IDLE)

    def fetch(self, specs: Iterable[EngineSpec], on_wait: Callable[[], None]) -> bool:
        """Have their bundles here; False if the site is away. A refused bundle is its game's matter."""
        for spec in specs if self.worker.site is not None else ():
            try:
                self.worker.folder_of(spec, on_wait)
            except SiteAway as away:
                self._found(away.why, lambda spec=spec: self._still_away(spec))  # type: ignore[misc]
                return False
            except (OSError, ValueError) as error:
                log.warning("the bundle of %s: %s", spec.name, error)
        return True

    def is_fit(self) -> bool:
        """Whether this slot may play; it proves itself if it has to."""
        if not self._trouble and (trouble := self.fitness.find_trouble(self.worker)):
            self._found(trouble, lambda: self.fitness.prove(self.worker))
        return not self._is_over()

    def _read(self, messages: Sequence[object]) -> Iterator[GameJob]:
        """The jobs that can be read; the games of the others are reported void."""
        for message in messages:
            try:
                yield GameJob.from_json(message)
            except JobError as error:
                log.error("a job cannot be read: %s", error)
                for refusal in refuse_job(message, self.worker, error):
                    self.told.on_report(refusal)

    def _fetch(self, jobs: Sequence[GameJob]) -> bool:
        try:
            for job in jobs:
                wait = _Wait(job.games[0], self.worker, self.told.on_progress, self._is_over)
                if not self.fetch(job.engines, wait):
                    return False
        except Stopped:
            return False
        return True

    def _release(self, games: Iterable[JobGame | GameReport]) -> None:
        self.told.on_release([Release(game.key, game.attempt, self.worker.name) for game in games])

    def _report(self, report: GameReport) -> None:
        """A void is told of by a slot that has just proved fit, and else was none of the game's."""
        void = report.termination == Termination.VOID
        if void and (trouble := self.fitness.prove(self.worker)):
            self._found(trouble, lambda: self.fitness.prove(self.worker))
        if void and self._is_over():
            self._release([report])
            return
        self.slots.count_game(self.index, void=void)
        self.told.on_report(report)

    def _is_over(self) -> bool:
        return self.slots.is_stopping or self.slots.is_barred or bool(self._trouble)

    def _found(self, trouble: str, look: Callable[[], str]) -> None:
        self._trouble, self._look = trouble, look

    def _still_away(self, spec: EngineSpec) -> str:
        try:
            self.worker.folder_of(spec)
        except SiteAway as away:
            return away.why
        except (OSError, ValueError):
            return ""  # the next game with it will say so
        return ""


@dataclass(slots=True)
class _Wait:
    """Called while a bundle comes: keeps the lease of its game, and breaks off when the shift is over."""

    game: JobGame
    worker: Worker
    on_progress: Callable[[Progress], None]
    is_over: Callable[[], bool]
    _told: float = field(default=0.0, init=False)

    def __call__(self) -> None:
        if self.is_over():
            raise Stopped
        if time.monotonic() > self._told + PROGRESS_SECONDS:
            self._told = time.monotonic()
            self.on_progress(Progress(self.game.key, self.game.attempt, self.worker.name, (), None, None))
