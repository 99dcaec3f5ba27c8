"""The message consumer: plays the jobs of one Celery message in order, and reports or returns every game.

It also runs compliance checks. Independent of Celery: results go to callbacks.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from engines.records import Termination
from engines.visible import visible
from workers.bundles.bundle_site import SiteAway
from workers.engine.fair_clock import CORE, find_core_trouble
from workers.jobs import (
    ComplianceJob,
    ComplianceNews,
    EngineSpec,
    GameJob,
    GameReport,
    JobError,
    JobGame,
    Progress,
    Release,
)
from workers.logs import FIELDS, log_ids
from workers.play.batch import play_batch
from workers.play.runner import PROGRESS_SECONDS, Callbacks, Stopped, WorkerContext, refuse_job
from workers.service.compliance import check_bot, returned_check
from workers.service.messaging.reports import ReportSender
from workers.service.messaging.vetting import vet_check, vet_job
from workers.service.self_test import SelfTest
from workers.service.slots import Slots, SlotState

MAX_ID = 40
"""Characters of the id of a job in the log."""

log = logging.getLogger("workers.service.consumer")


@dataclass(frozen=True, slots=True)
class MessageCallbacks:
    """Called with games that ended, the progress of a game, games returned unplayed, and news of a check."""

    on_reports: Callable[[Sequence[GameReport]], None]
    on_progress: Callable[[Progress], None]
    on_releases: Callable[[Sequence[Release]], None]
    on_news: Callable[[ComplianceNews], None]


@dataclass(slots=True)
class MessageConsumer:
    """Handles messages in one slot of a worker.

    A slot that finds that it cannot play is held at the end of the message, until it can.
    """

    worker: WorkerContext
    slots: Slots
    index: int
    self_test: SelfTest
    callbacks: MessageCallbacks
    _reports: ReportSender[GameReport] = field(init=False)
    _trouble: str = field(default="", init=False)
    _find_trouble: Callable[[], str] = field(default=lambda: "", init=False)

    def play(self, messages: Sequence[object]) -> None:
        """Play the jobs of a message; games that the slot cannot play are returned."""
        self._trouble = ""
        self.slots.enter(self.index, SlotState.BUSY)
        with log_ids(job=_job_of(messages)), ReportSender(self.callbacks.on_reports) as self._reports:
            try:
                jobs = [job for job in self._read(messages) if job.games]
                self.slots.begin_job(self.index, jobs[0].job if jobs else "")
                left = tuple(game for job in jobs for game in job.games)
                log.info("plays %d games", len(left), extra=_games_of(left))
                if left and not self._is_over() and self._is_fit() and self._fetch_all(jobs):
                    left = play_batch(
                        jobs, self.worker, Callbacks(self._report, self.callbacks.on_progress, self._is_over)
                    )
                if left:
                    self._release(left)
            finally:
                self.slots.begin_job(self.index, "")
                self.slots.enter(self.index, SlotState.IDLE)
        if not self._trouble and (trouble := CORE.complaint()) and find_core_trouble():
            self._set_trouble(trouble, find_core_trouble)
        self._hold_slot()

    def check(self, message: object) -> None:
        """Run the compliance check of a message; its last news has an ending, also if it could not run."""
        try:
            job = vet_check(ComplianceJob.from_json(message))
        except JobError as error:
            log.error("a compliance check cannot be read: %s", error)  # without news the site sends it again
            return
        self._trouble = ""
        self.slots.begin_job(self.index, job.exam)
        with log_ids(job=job.exam):
            log.info("checks the bot %s", job.engine.name)
            try:
                if self._is_fit() and self._fetch([job.engine], lambda: None):
                    check_bot(job, self.worker, self.callbacks.on_news, self._is_check_over)
                else:
                    self.callbacks.on_news(returned_check(job, self.worker))
            finally:
                self.slots.begin_job(self.index, "")
        self._hold_slot()

    def _hold_slot(self) -> None:
        """Hold the slot while the trouble that was found lasts."""
        if self._trouble:
            try:
                self.self_test.hold(self._trouble, self._find_trouble)
            finally:
                self.slots.enter(self.index, SlotState.IDLE)

    def _fetch(self, specs: Iterable[EngineSpec], on_wait: Callable[[], None]) -> bool:
        """Fetch the bundles of engines; False if the site is away. A refused bundle makes its game void."""
        for spec in specs if self.worker.site is not None else ():
            try:
                self.worker.folder_of(spec, on_wait)
            except SiteAway as away:
                self._set_trouble(away.why, lambda spec=spec: self._still_away(spec))  # type: ignore[misc]
                return False
            except (OSError, ValueError) as error:
                log.warning("the bundle of %s: %s", spec.name, error)
        return True

    def _is_fit(self) -> bool:
        """Whether this slot may play; runs the self-test if it is due."""
        if not self._trouble and (trouble := self.self_test.find_trouble(self.worker)):
            self._set_trouble(trouble, lambda: self.self_test.run(self.worker))
        return not self._is_over()

    def _read(self, messages: Sequence[object]) -> Iterator[GameJob]:
        """The jobs that can be read; the games of the others are reported void."""
        for message in messages:
            try:
                yield vet_job(GameJob.from_json(message))
            except JobError as error:
                log.error("a job cannot be read: %s", error)
                for refusal in refuse_job(message, self.worker, error):
                    self._reports.put(refusal)

    def _fetch_all(self, jobs: Sequence[GameJob]) -> bool:
        try:
            for job in jobs:
                wait = _FetchWait(job.games[0], self.worker, self.callbacks.on_progress, self._is_over)
                if not self._fetch(job.engines, wait):
                    return False
        except Stopped:
            return False
        return True

    def _release(self, games: Sequence[JobGame | GameReport]) -> None:
        log.info("returns %d games", len(games), extra=_games_of(games))
        self.callbacks.on_releases([Release(game.key, game.attempt, self.worker.name) for game in games])

    def _report(self, report: GameReport) -> None:
        """Report a game. A void is reported only if the self-test then passes; else the game is returned."""
        void = report.termination == Termination.VOID
        if void and (trouble := self.self_test.run(self.worker)):
            self._set_trouble(trouble, lambda: self.self_test.run(self.worker))
        if void and self._is_over():
            self._release([report])
            return
        self.slots.count_game(self.index, void=void)
        self._reports.put(report)

    def _is_over(self) -> bool:
        slots = self.slots
        return slots.is_stopping or slots.is_barred or bool(self._trouble) or slots.is_job_stopped(self.index)

    def _is_check_over(self) -> bool:
        return self.slots.is_stopping or self.slots.is_job_stopped(self.index)

    def _set_trouble(self, trouble: str, find_trouble: Callable[[], str]) -> None:
        self._trouble, self._find_trouble = trouble, find_trouble

    def _still_away(self, spec: EngineSpec) -> str:
        try:
            self.worker.folder_of(spec)
        except SiteAway as away:
            return away.why
        except (OSError, ValueError):
            return ""  # the next game with this engine reports it
        return ""


def _job_of(messages: Sequence[object]) -> str:
    """The id of the job in a message, which may be anything."""
    first = messages[0] if messages else None
    return visible(str(first.get("job", "")), MAX_ID) if isinstance(first, dict) else ""


def _games_of(games: Iterable[JobGame | GameReport]) -> dict[str, object]:
    return {FIELDS: {"games": [game.key for game in games]}}


@dataclass(slots=True)
class _FetchWait:
    """Called while a bundle is fetched: renews the lease of its game; raises ``Stopped`` if it must end."""

    game: JobGame
    worker: WorkerContext
    on_progress: Callable[[Progress], None]
    is_over: Callable[[], bool]
    _last_progress: float = field(default=0.0, init=False)

    def __call__(self) -> None:
        if self.is_over():
            raise Stopped
        if time.monotonic() > self._last_progress + PROGRESS_SECONDS:
            self._last_progress = time.monotonic()
            self.on_progress(Progress(self.game.key, self.game.attempt, self.worker.name, (), None, None))
