"""The check of an uploaded bot before it may play: unpacks its bundle, then runs the compliance check.

Runs a check from its job to its last message. Independent of Celery: news goes to a callback.
"""

from __future__ import annotations

import contextlib
import logging
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engines.bundles.manifest import BundleError
from engines.bundles.store import forget_dropped
from engines.rules.registry import find_game
from engines.visible import visible, visible_lines
from workers.check import CannotCheck, check_engine
from workers.engine.child import REAPER
from workers.jobs import ComplianceEnding, ComplianceJob, ComplianceNews, Finding
from workers.play.runner import PROGRESS_SECONDS, Stopped, WorkerContext
from workers.reaper import remove_scratch
from workers.sandbox.policy import Refused

MAX_SENTENCE = 1000
MAX_LOG = 8 * 1024
"""Characters of exchanged lines, and of standard error, in a finding; the beginning and the end are kept."""
MAX_NAME = 100

log = logging.getLogger("workers.service.compliance")


def released_check(job: ComplianceJob, worker: WorkerContext) -> ComplianceNews:
    """The news of a check that the worker cannot run now."""
    return ComplianceNews(job.exam, worker.name, False, "", (), ComplianceEnding.RETURNED, "")


def failed_check(job: ComplianceJob, worker: WorkerContext, why: str) -> ComplianceNews:
    """The news of a check that the worker does not run."""
    return replace(released_check(job, worker), ending=ComplianceEnding.FAILED, why=why)


def check_bot(
    job: ComplianceJob,
    worker: WorkerContext,
    on_news: Callable[[ComplianceNews], None],
    is_stopping: Callable[[], bool] = lambda: False,
) -> None:
    """Check a bot; the last news has an ending. All engines have ended on return."""
    check = _ComplianceCheck(job, worker, on_news, is_stopping)
    try:
        check.run()
    except Stopped:
        check.end(ComplianceEnding.RETURNED)
    except BundleError as refusal:
        check.end(ComplianceEnding.REFUSED, str(refusal))
    except Refused as refused:
        check.end(ComplianceEnding.FAILED, str(refused))
    except OSError as error:  # the reason is public: no paths
        log.exception("check %s failed", job.exam)
        check.end(ComplianceEnding.FAILED, f"the bundle is not available: {error.strerror}")
    except Exception as error:
        log.exception("check %s failed", job.exam)
        check.end(ComplianceEnding.FAILED, f"{type(error).__name__}: {error}")


@dataclass(slots=True)
class _ComplianceCheck:
    """A running compliance check."""

    job: ComplianceJob
    worker: WorkerContext
    on_news: Callable[[ComplianceNews], None]
    is_stopping: Callable[[], bool]
    _news: ComplianceNews = field(init=False)
    _last_news: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._news = replace(released_check(self.job, self.worker), ending=ComplianceEnding.NONE)

    def run(self) -> None:
        self._send()
        forget_dropped(self.worker.store, self.worker.cache)
        with _temporary_cache(self.worker) as worker:
            worker.folder_of(self.job.engine)
            self._send(unpacked=True)
            self._check(worker)
        self.end(ComplianceEnding.DONE)

    def _check(self, worker: WorkerContext) -> None:
        worker.sandbox_for(self.job.engine)
        try:
            report = check_engine(
                lambda: worker.plan(self.job.engine),
                ladders=[find_game(code) for code in self.job.games],
                options=self.job.engine.options,
                seconds=self.job.seconds,
                on_finding=self._add,
                on_wait=self._check_in,
            )
        except CannotCheck as cannot:
            advice = "try it with python3 -m workers check before you upload it"
            self._add(Finding("setup", "", str(cannot), advice, is_grave=True))
        else:
            self._news = replace(self._news, engine=visible(report.engine, MAX_NAME))

    def end(self, ending: ComplianceEnding, why: str = "") -> None:
        self._send(ending=ending, why=visible(why, MAX_SENTENCE))

    def _add(self, finding: Finding) -> None:
        self._send(found=(*self._news.found, _limited(finding)))
        self._check_in()

    def _check_in(self) -> None:
        """Raise ``Stopped`` if the worker stops; at intervals send news, which renews the lease."""
        if self.is_stopping():
            raise Stopped
        if time.monotonic() > self._last_news + PROGRESS_SECONDS:
            self._send()

    def _send(self, **changes: Any) -> None:
        """Send the news with changed fields."""
        self._last_news = time.monotonic()
        self._news = replace(self._news, **changes)
        self.on_news(self._news)


@contextlib.contextmanager
def _temporary_cache(worker: WorkerContext) -> Iterator[WorkerContext]:
    """The worker with a temporary cache, so that a refused bundle is removed after the check.

    The reaper removes the folder if this process is killed.
    """
    worker.cache.mkdir(parents=True, exist_ok=True)
    folder = tempfile.mkdtemp(prefix=".checked-", dir=worker.cache)
    try:
        REAPER.watch(folder)
        yield replace(worker, cache=Path(folder))
    finally:
        remove_scratch(folder)
        REAPER.forget(folder)


def _limited(finding: Finding) -> Finding:
    """With printable texts of limited length."""
    return replace(
        finding,
        fault=visible(finding.fault, MAX_SENTENCE),
        lines=visible_lines(finding.lines, MAX_LOG),
        stderr=visible_lines(finding.stderr, MAX_LOG),
    )
