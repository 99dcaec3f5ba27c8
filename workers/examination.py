"""A bot examined before it may play: its bundle unpacked, then the compliance check.

What travels for it, and one examination from its job to its last word. Knows no queue: news goes to
a function.
"""

from __future__ import annotations

import contextlib
import logging
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from engines.rules.registry import find_game
from engines.visible import visible, visible_lines
from workers.bundles import forget_dropped
from workers.check import CannotCheck, Finding, check_engine
from workers.jobs import EngineSpec, JsonValue
from workers.launch import plan_launch
from workers.manifest import BundleError
from workers.process import REAPER
from workers.reaper import remove_scratch
from workers.runner import PROGRESS_SECONDS, Stopped, Worker
from workers.sandbox.policy import Refused

MAX_SENTENCE = 1000
MAX_LOG = 8 * 1024
"""Characters of lines exchanged, and of standard error, that a fault is told with: both ends are kept."""
MAX_NAME = 100

log = logging.getLogger("workers.examination")


class Ending(StrEnum):
    """How an examination came out, or that it has not yet."""

    NONE = ""
    DONE = "done"
    """Everything that there was time for has been tried."""
    REFUSED = "refused"
    """The bundle itself is no good; ``why`` says how."""
    FAILED = "failed"
    """Our own side could not examine it; ``why`` says how, and nothing is held against the bot."""
    RETURNED = "returned"
    """The worker was told to stop; to be given out again at once."""


@dataclass(frozen=True, slots=True)
class ExamJob(JsonValue):
    """An engine to be examined on these ladders, within so many seconds."""

    exam: str
    engine: EngineSpec
    games: tuple[str, ...]
    seconds: int


@dataclass(frozen=True, slots=True)
class Found(Finding, JsonValue):
    """A finding as it travels: fit to be shown, and bounded."""


@dataclass(frozen=True, slots=True)
class ExamNews(JsonValue):
    """How far an examination has come: all that was found so far, and once it is over how it ended."""

    exam: str
    worker: str
    unpacked: bool
    engine: str
    """As it calls itself; known at the end."""
    found: tuple[Found, ...]
    ending: Ending
    why: str


def examine(
    job: ExamJob,
    worker: Worker,
    on_news: Callable[[ExamNews], None],
    is_stopping: Callable[[], bool] = lambda: False,
) -> None:
    """Examine a bot; the last news has an ending, whatever happens. Leaves no engine behind."""
    examination = _Examination(job, worker, on_news, is_stopping)
    try:
        examination.run()
    except Stopped:
        examination.end(Ending.RETURNED)
    except BundleError as refusal:
        examination.end(Ending.REFUSED, str(refusal))
    except Refused as refused:
        examination.end(Ending.FAILED, str(refused))
    except OSError as error:  # no paths of ours in public
        log.exception("examination %s failed", job.exam)
        examination.end(Ending.FAILED, f"the bundle cannot be had: {error.strerror}")
    except Exception as error:
        log.exception("examination %s failed", job.exam)
        examination.end(Ending.FAILED, f"{type(error).__name__}: {error}")


@dataclass(slots=True)
class _Examination:
    """One under way."""

    job: ExamJob
    worker: Worker
    on_news: Callable[[ExamNews], None]
    is_stopping: Callable[[], bool]
    _found: list[Found] = field(default_factory=list, init=False)
    _unpacked: bool = field(default=False, init=False)
    _engine: str = field(default="", init=False)
    _told: float = field(default=0.0, init=False)

    def run(self) -> None:
        self._tell()
        forget_dropped(self.worker.store, self.worker.cache)
        with _cache_apart(self.worker) as worker:
            folder = worker.folder_of(self.job.engine)
            self._unpacked = True
            self._tell()
            self._check(folder)
        self.end(Ending.DONE)

    def _check(self, folder: Path | None) -> None:
        walls = self.worker.walls_for(self.job.engine)
        try:
            report = check_engine(
                lambda: plan_launch(self.job.engine, folder, walls),
                ladders=[find_game(code) for code in self.job.games],
                options=self.job.engine.options,
                seconds=self.job.seconds,
                on_finding=self._add,
                on_wait=self._look_up,
            )
        except CannotCheck as cannot:
            advice = "try it with python -m workers check before you upload it"
            self._add(Finding("setup", "", str(cannot), advice, is_grave=True))
        else:
            self._engine = visible(report.engine, MAX_NAME)

    def end(self, ending: Ending, why: str = "") -> None:
        self._tell(ending, visible(why, MAX_SENTENCE))

    def _add(self, finding: Finding) -> None:
        self._found.append(_travelling(finding))
        self._tell()
        self._look_up()

    def _look_up(self) -> None:
        """See whether to stop, and say now and then that it goes on: that keeps its lease."""
        if self.is_stopping():
            raise Stopped
        if time.monotonic() > self._told + PROGRESS_SECONDS:
            self._tell()

    def _tell(self, ending: Ending = Ending.NONE, why: str = "") -> None:
        self._told = time.monotonic()
        found = tuple(self._found)
        news = ExamNews(self.job.exam, self.worker.name, self._unpacked, self._engine, found, ending, why)
        self.on_news(news)


@contextlib.contextmanager
def _cache_apart(worker: Worker) -> Iterator[Worker]:
    """The worker with a cache of its own: what is refused stays nowhere, and nobody else is using it.

    The folder goes also if this process is killed.
    """
    worker.cache.mkdir(parents=True, exist_ok=True)
    folder = tempfile.mkdtemp(prefix=".examined-", dir=worker.cache)
    try:
        REAPER.watch(folder)
        yield replace(worker, cache=Path(folder))
    finally:
        remove_scratch(folder)
        REAPER.forget(folder)


def _travelling(finding: Finding) -> Found:
    return Found(
        check=finding.check,
        ladder=finding.ladder,
        fault=visible(finding.fault, MAX_SENTENCE),
        advice=finding.advice,
        lines=visible_lines(finding.lines, MAX_LOG),
        stderr=visible_lines(finding.stderr, MAX_LOG),
        was_tried=finding.was_tried,
        is_grave=finding.is_grave,
    )
