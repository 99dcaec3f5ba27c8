"""What arrives on the queues ``games`` and ``validation``, and what goes back on ``records``."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import socket
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kombu.exceptions import OperationalError

from workers.bundle_site import BundleSite
from workers.celery import RECORDS, app, slot_index
from workers.conditions import measure_speed
from workers.courier import Courier
from workers.examination import Ending, ExamJob, ExamNews, examine
from workers.fitness import Fitness
from workers.heartbeat import Heartbeat, Trouble
from workers.jobs import GameReport, JobError, Progress, Release
from workers.outbox import Outbox
from workers.runner import Worker
from workers.sandbox.enclosure import Sandbox
from workers.sandbox.levels import Verdict, describe
from workers.sandbox.policy import Policy, make_policy, write_verdict
from workers.sandbox.probe import probe
from workers.shift import Shift, Told
from workers.slots import SLOTS

NAME, SITE, TOKEN = "DUARENA_NAME", "DUARENA_SITE", "DUARENA_TOKEN"
"""The worker's name; the site that lends it bundles, and the key to them: see ``workers.commands.start``."""

log = logging.getLogger("workers.tasks")

REPORT_RETRY = {"max_retries": 60, "interval_start": 0.2, "interval_step": 0.5, "interval_max": 2.0}
"""A report is worth waiting two minutes for a broker that is gone; a word of progress is not."""

WORD_SECONDS = 1.0
"""From one word of progress to the next: who looks on cannot follow games that are shorter."""


@app.task(name="workers.play")
def play(message: Any) -> None:
    """A parcel of jobs, or one; games are reported as they end, what is left at a stop is given back."""
    _courier.hurry()  # the first word is what tells the site that these games are begun
    with Outbox(_report) as outbox:
        shift = _shift(outbox.put)
        shift.play(message if isinstance(message, list) else [message])
    shift.recover()


@app.task(name="workers.examine")
def examine_bot(message: Any) -> None:
    """A bot to be examined; news of it is told as it goes, and the last in any case."""
    try:
        job = ExamJob.from_json(message)
    except JobError as error:
        log.error("an examination cannot be read: %s", error)  # its site hears no word, and sends it anew
        return
    shift = _shift(lambda report: None)
    if shift.is_fit() and shift.fetch([job.engine], lambda: None):
        examine(job, shift.worker, _tell_news, lambda: SLOTS.is_stopping)
    else:
        _tell_news(ExamNews(job.exam, shift.worker.name, False, "", (), Ending.RETURNED, ""))
    shift.recover()


def _shift(on_report: Callable[[GameReport], None]) -> Shift:
    """This slot, with a message to play."""
    return Shift(_worker(), SLOTS, slot_index(), _fitness(), Told(on_report, _courier.tell, _release))


@functools.cache
def _fitness() -> Fitness:
    """This slot's; first asked for in its own process."""
    return Fitness(SLOTS, slot_index(), _tell_trouble)


def _worker() -> Worker:
    """This process, and its folders as the environment names them."""
    return Worker(
        name=f"{os.environ.get(NAME) or socket.gethostname()}/{os.getpid()}",
        store=_store(),
        cache=_cache(),
        policy=settle_policy(),
        speed=settle_speed(),
        site=lending_site(),
    )


def _store() -> Path:
    """A site's own workers share its folder; what a site lends is kept beside what is unpacked."""
    usual = _cache() / "zips" if lending_site() else Path("bundles")
    return Path(os.environ.get("DUARENA_BUNDLES") or usual)


def _cache() -> Path:
    usual = os.path.join(tempfile.gettempdir(), f"duarena-cache-{os.getuid()}")
    return Path(os.environ.get("DUARENA_CACHE") or usual)


@functools.cache
def settle_policy() -> Policy:
    """What this worker does with the walls that hold here."""
    return make_policy(*settle_walls(), os.environ)


@functools.cache
def settle_walls() -> tuple[Verdict, Sandbox | None]:
    """Try out once, before the first game, which walls hold here; the cache folder keeps what was found."""
    verdict, sandbox = probe(socket.gethostname())
    for line in describe(verdict):
        log.warning("%s", line)
    write_verdict(_cache(), verdict)
    return verdict, sandbox


@functools.cache
def lending_site() -> BundleSite | None:
    """The site to fetch bundles from, where the worker was started with a token; raises ``ValueError``."""
    if not (token := os.environ.get(TOKEN)):
        return None
    return BundleSite(os.environ.get(SITE, ""), token)


@functools.cache
def settle_speed() -> str:
    """How fast this worker is, measured at its start."""
    return measure_speed()


def _report(reports: Sequence[GameReport]) -> None:
    _send("tournament.record", [report.to_json() for report in reports])


def _release(releases: Sequence[Release]) -> None:
    _send("tournament.release", [release.to_json() for release in releases])


def _tell_trouble(why: str) -> None:
    """The site can do without: the next word of trouble says the same."""
    _try_to_send("tournament.trouble", Trouble(_worker().name, why).to_json())


def tell_heartbeat(heartbeat: Heartbeat) -> None:
    """Raises ``ConnectionError``, by which a worker notices that its broker is gone."""
    try:
        app.send_task("tournament.heartbeat", args=[heartbeat.to_json()], queue=RECORDS, retry=False)
    except OperationalError as error:
        raise ConnectionError(str(error)) from error


def _tell(progress: Progress) -> None:
    """The next word will do; without any for long enough the lease ends."""
    _try_to_send("tournament.progress", progress.to_json())


def _tell_news(news: ExamNews) -> None:
    if news.ending is Ending.NONE:
        _news_courier.tell(news)
    else:
        _send("tournament.news", news.to_json())


def _carry_news(news: ExamNews) -> None:
    """The next news has all that this had."""
    _try_to_send("tournament.news", news.to_json())


_courier = Courier(_tell, pause=WORD_SECONDS)
_news_courier = Courier(_carry_news)


def _try_to_send(task: str, message: object) -> None:
    with contextlib.suppress(OperationalError):
        app.send_task(task, args=[message], queue=RECORDS, retry=False)


def _send(task: str, message: object) -> None:
    app.send_task(task, args=[message], queue=RECORDS, retry=True, retry_policy=REPORT_RETRY)
