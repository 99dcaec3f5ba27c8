"""A slot of a worker: asks the site for work, plays or checks, reports, and asks again.

Independent of Celery. Nothing here waits for the network while a game is played: see ``site.Sender``.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from engines.records import Termination
from workers.bundles.bundle_site import SiteAway, TokenRefused
from workers.bundles.samples import sample_hashes
from workers.engine.fair_clock import CORE, find_core_trouble
from workers.jobs import (
    Batch,
    ComplianceJob,
    EngineSpec,
    GameJob,
    GameReport,
    JobError,
    JobGame,
    Progress,
    SearchJob,
    SearchNews,
    Work,
)
from workers.logs import FIELDS, log_ids
from workers.play.batch import play_batch
from workers.play.runner import Callbacks, Stopped, WorkerContext, refuse_job
from workers.service.compliance import check_bot, failed_check, released_check
from workers.service.searching import search
from workers.service.self_test import SelfTest
from workers.service.site import Sender
from workers.service.slots import Slots, SlotState

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 30.0
"""Pauses between asks while the site is away."""
LAST_POST_SECONDS = 3.0
"""The time of a stopping slot to return its games."""

log = logging.getLogger("workers.service.slot")


@dataclass(slots=True)
class Slot:
    """One slot of a worker. If it finds that it cannot play, it is held until it can."""

    worker: WorkerContext
    slots: Slots
    index: int
    takes: tuple[Work, ...]
    """What it takes, searches last."""
    sender: Sender
    self_test: SelfTest = field(init=False)
    _trouble: str = field(default="", init=False)
    _find_trouble: Callable[[], str] = field(default=lambda: "", init=False)
    _has_searched: bool = field(default=False, init=False)
    """Whether its last work was a search."""
    _pause: float = field(default=0.0, init=False)
    _next_ask: float = field(default=float("-inf"), init=False)

    def __post_init__(self) -> None:
        self.self_test = SelfTest(self.slots, self.index)

    def take_turn(self) -> None:
        """Ask for work and do it, until there is none, the site is away, or the worker must not play."""
        while not self._is_over() and time.monotonic() >= self._next_ask:
            if trouble := self.self_test.find_trouble(self.worker):
                self._set_trouble(trouble, lambda: self.self_test.run(self.worker))
            elif batch := self._ask():
                self.slots.enter(self.index, SlotState.BUSY)
                try:
                    self._do(batch)
                finally:
                    self.slots.enter(self.index, SlotState.IDLE)
            else:
                return
            if self._trouble:
                trouble, self._trouble = self._trouble, ""
                self.self_test.hold(trouble, self._find_trouble)

    def _ask(self) -> Batch | None:
        """The work that the site gives; None if it gives none or is away.

        Searches come first, but not after a search, so neither kind of work waits for long for the other.
        """
        try:
            batch = self.sender.ask(self.takes if self._has_searched else self.takes[::-1])
        except TokenRefused as refused:
            log.warning("%s", refused.why)
            self.slots.bar()  # until the answer to a heartbeat admits the worker
            return None
        except SiteAway as away:
            if not self._pause:
                log.warning("asks for work again and again: %s", away.why)
            self._pause = min(max(2 * self._pause, FIRST_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)
            self._next_ask = time.monotonic() + max(away.retry_s, random.uniform(0.5, 1.0) * self._pause)
            return None
        self._pause, self._next_ask = 0.0, float("-inf")
        return batch

    def _do(self, batch: Batch) -> None:
        self._has_searched = batch.search is not None
        with log_ids(job=batch.job):
            self.sender.begin(batch.job, batch.lease_s)
            try:
                if batch.check is not None:
                    self._check(batch.check)
                elif batch.search is not None:
                    self._search(batch.search)
                else:
                    self._play(batch.jobs)
            finally:
                self.sender.end()
        if self.slots.is_stopping:
            self.sender.flush(LAST_POST_SECONDS)

    def _play(self, given: Sequence[GameJob]) -> None:
        """Play jobs; games that this worker may not play are reported void, others are released."""
        jobs = list(self._vetted(given))
        left = tuple(game for job in jobs for game in job.games)
        log.info("plays %d games", len(left), extra=_games_of(left))
        if left and not self._is_over() and self._fetch_all(jobs):
            sender = self.sender
            callbacks = Callbacks(
                self._report, sender.show, self._is_over, sender.is_stopped, sender.is_watched
            )
            left = play_batch(jobs, self.worker, callbacks)
        if left:
            self._release(left)
        if not self._trouble and (trouble := CORE.complaint()) and find_core_trouble():
            self._set_trouble(trouble, find_core_trouble)

    def _check(self, given: ComplianceJob) -> None:
        """Run a compliance check; its last news has an ending, also if it could not run."""
        try:
            job = replace(given, engine=_vetted(given.engine))
        except JobError as error:
            self.sender.tell(failed_check(given, self.worker, str(error)))
            return
        log.info("checks the bot %s", job.engine.name)
        if self._fetch([job.engine], lambda: None):
            check_bot(
                job,
                self.worker,
                self.sender.tell,
                lambda: self._must_stop(job.exam),
            )
        else:
            self.sender.tell(released_check(job, self.worker))

    def _search(self, given: SearchJob) -> None:
        """Run a search; what is not evaluated waits for another slot."""
        try:
            job = replace(given, engine=_vetted(given.engine))
        except JobError as error:
            log.error("a search is not run: %s", error)
            self.sender.tell(SearchNews(given.search, self.worker.name, (), is_over=True))
            return
        log.info("searches with the bot %s", job.engine.name)
        if self._fetch([job.engine], lambda: None):
            is_able = search(job, self.worker, self.sender.tell, lambda: self._must_stop(job.search))
            if not is_able and (trouble := self.self_test.run(self.worker)):
                self._set_trouble(trouble, lambda: self.self_test.run(self.worker))
        else:
            self.sender.tell(SearchNews(job.search, self.worker.name, (), is_over=True))

    def _must_stop(self, what: str) -> bool:
        return self.slots.is_stopping or self.sender.is_stopped(what)

    def _vetted(self, jobs: Sequence[GameJob]) -> Iterator[GameJob]:
        """The jobs as this worker plays them; games that it may not play are reported void."""
        for job in jobs:
            try:
                one, two = job.engines
                yield replace(job, engines=(_vetted(one), _vetted(two)))
            except JobError as error:
                log.error("a job is not played: %s", error)
                for refused in refuse_job(job, self.worker, error):
                    self.sender.report(refused)

    def _fetch_all(self, jobs: Sequence[GameJob]) -> bool:
        """Fetch the bundles of all jobs; False if the site is away or the worker must not play."""
        try:
            return all(self._fetch(job.engines, partial(self._wait_for, job.games[0])) for job in jobs)
        except Stopped:
            return False

    def _wait_for(self, game: JobGame) -> None:
        """Show a game without moves while its bundles are fetched; raises ``Stopped`` if it must end."""
        if self._is_over():
            raise Stopped
        self.sender.show(Progress(game.key, game.attempt, 0, (), None, None))

    def _fetch(self, specs: Iterable[EngineSpec], on_wait: Callable[[], None]) -> bool:
        """Fetch the bundles of engines; False if the site is away. A refused bundle makes its game void."""
        for spec in specs:
            if why := self._find_away(spec, on_wait):
                self._set_trouble(why, partial(self._find_away, spec))
                return False
        return True

    def _find_away(self, spec: EngineSpec, on_wait: Callable[[], None] = lambda: None) -> str:
        """Fetch an engine's bundle; returns why the site is away, empty if it is not."""
        try:
            self.worker.folder_of(spec, on_wait)
        except SiteAway as away:
            return away.why
        except (OSError, ValueError) as error:
            log.warning("the bundle of %s: %s", spec.name, error)
        return ""

    def _report(self, report: GameReport) -> None:
        """Report a game. A void is reported only if the self-test then passes; else the game is released."""
        void = report.termination == Termination.VOID
        if void and (trouble := self.self_test.run(self.worker)):
            self._set_trouble(trouble, lambda: self.self_test.run(self.worker))
        if void and self._is_over():
            self._release([report])
            return
        self.slots.count_game(self.index, void=void, plies=len(report.moves))
        self.sender.report(report)

    def _release(self, games: Sequence[JobGame | GameReport]) -> None:
        log.info("releases %d games", len(games), extra=_games_of(games))
        self.sender.release([game.attempt for game in games])

    def _is_over(self) -> bool:
        return self.slots.is_stopping or self.slots.is_barred or bool(self._trouble)

    def _set_trouble(self, trouble: str, find_trouble: Callable[[], str]) -> None:
        self._trouble, self._find_trouble = trouble, find_trouble


def _vetted(spec: EngineSpec) -> EngineSpec:
    """An engine as this worker runs it: bundles only; trusted are only the sample bots of this installation.

    Otherwise a site could start any command on the worker's machine. Raises ``JobError``.
    """
    if spec.directory is not None:
        raise JobError("EngineSpec.directory: a worker runs bundles only, not folders of its machine")
    if spec.bundle is None:
        raise JobError("EngineSpec.bundle is missing: a worker runs bundles only")
    return replace(spec, trusted=spec.bundle in sample_hashes())


def _games_of(games: Iterable[JobGame | GameReport]) -> dict[str, object]:
    return {FIELDS: {"games": [game.key for game in games]}}
