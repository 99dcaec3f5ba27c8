"""The Celery tasks of the queues ``games`` and ``validation``, and the messages sent to ``records``."""

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

from workers.bundles.bundle_site import BundleSite
from workers.engine.sandbox_probe import probe
from workers.jobs import GameReport, JobError, Progress, Release
from workers.play.environment import measure_speed
from workers.play.runner import WorkerContext
from workers.sandbox.levels import Verdict, describe
from workers.sandbox.policy import Policy, make_policy, write_verdict
from workers.sandbox.sandbox import Sandbox
from workers.service.celery import RECORDS, app, slot_index
from workers.service.compliance import ExamEnding, ExamJob, ExamNews, examine
from workers.service.consumer import MessageCallbacks, MessageConsumer
from workers.service.heartbeat import Heartbeat, Trouble
from workers.service.progress import ProgressSender
from workers.service.reports import ReportSender
from workers.service.self_test import SelfTest
from workers.service.slots import SLOTS

NAME, SITE, TOKEN = "DUARENA_NAME", "DUARENA_SITE", "DUARENA_TOKEN"
"""The worker's name, the site to fetch bundles from, and the worker token: see ``workers.commands.start``."""

log = logging.getLogger("workers.service.tasks")

REPORT_RETRY = {"max_retries": 60, "interval_start": 0.2, "interval_step": 0.5, "interval_max": 2.0}
"""Sending a report waits up to two minutes for an absent broker; sending progress does not wait."""

WORD_SECONDS = 1.0
"""The shortest interval between progress messages: a viewer cannot follow shorter games."""


@app.task(name="workers.play")
def play(message: Any) -> None:
    """Play one job or a batch of jobs; report games as they end, and return the rest after a stop."""
    _progress_sender.flush_now()  # the first progress message reports that the games have begun
    with ReportSender(_report) as sender:
        consumer = _consumer(sender.put)
        consumer.play(message if isinstance(message, list) else [message])
    consumer.recover()


@app.task(name="workers.examine")
def examine_bot(message: Any) -> None:
    """Run the compliance check of a bot; send news of it while it runs, and always a last one."""
    try:
        job = ExamJob.from_json(message)
    except JobError as error:
        log.error("an examination cannot be read: %s", error)  # the site gets no news, and sends it again
        return
    consumer = _consumer(lambda report: None)
    if consumer.is_fit() and consumer.fetch([job.engine], lambda: None):
        examine(job, consumer.worker, _send_news, lambda: SLOTS.is_stopping)
    else:
        _send_news(ExamNews(job.exam, consumer.worker.name, False, "", (), ExamEnding.RETURNED, ""))
    consumer.recover()


def _consumer(on_report: Callable[[GameReport], None]) -> MessageConsumer:
    """The message consumer of this slot."""
    return MessageConsumer(
        _worker(),
        SLOTS,
        slot_index(),
        _self_test(),
        MessageCallbacks(on_report, _progress_sender.tell, _release),
    )


@functools.cache
def _self_test() -> SelfTest:
    """The self-test of this slot; first called in the slot's own process."""
    return SelfTest(SLOTS, slot_index(), _send_trouble)


def _worker() -> WorkerContext:
    """The context of this process, from environment variables."""
    return WorkerContext(
        name=f"{os.environ.get(NAME) or socket.gethostname()}/{os.getpid()}",
        store=_store(),
        cache=_cache(),
        policy=settle_policy(),
        speed=settle_speed(),
        site=lending_site(),
    )


def _store() -> Path:
    """The store folder: the site's own on its host; below the cache if bundles are fetched from a site."""
    usual = _cache() / "zips" if lending_site() else Path("bundles")
    return Path(os.environ.get("DUARENA_BUNDLES") or usual)


def _cache() -> Path:
    usual = os.path.join(tempfile.gettempdir(), f"duarena-cache-{os.getuid()}")
    return Path(os.environ.get("DUARENA_CACHE") or usual)


@functools.cache
def settle_policy() -> Policy:
    """The sandbox policy of this worker, from its environment and ``settle_walls``."""
    return make_policy(*settle_walls(), os.environ)


@functools.cache
def settle_walls() -> tuple[Verdict, Sandbox | None]:
    """Test once, before the first game, which sandbox works here; stores the verdict in the cache folder."""
    verdict, sandbox = probe(socket.gethostname())
    for line in describe(verdict):
        log.warning("%s", line)
    write_verdict(_cache(), verdict)
    return verdict, sandbox


@functools.cache
def lending_site() -> BundleSite | None:
    """The site to fetch bundles from; None without a token. Raises ``ValueError`` for a wrong address."""
    if not (token := os.environ.get(TOKEN)):
        return None
    return BundleSite(os.environ.get(SITE, ""), token)


@functools.cache
def settle_speed() -> str:
    """The speed of this worker, measured once."""
    return measure_speed()


def _report(reports: Sequence[GameReport]) -> None:
    _send("tournament.record", [report.to_json() for report in reports])


def _release(releases: Sequence[Release]) -> None:
    _send("tournament.release", [release.to_json() for release in releases])


def _send_trouble(why: str) -> None:
    """Send trouble without retrying: the next message repeats a lost one."""
    _try_to_send("tournament.trouble", Trouble(_worker().name, why).to_json())


def tell_heartbeat(heartbeat: Heartbeat) -> None:
    """Send a heartbeat. Raises ``ConnectionError`` if the broker is gone, so that the worker reconnects."""
    try:
        app.send_task("tournament.heartbeat", args=[heartbeat.to_json()], queue=RECORDS, retry=False)
    except OperationalError as error:
        raise ConnectionError(str(error)) from error


def _send_progress(progress: Progress) -> None:
    """Send progress without retrying: the next message replaces a lost one. Without any the lease expires."""
    _try_to_send("tournament.progress", progress.to_json())


def _send_news(news: ExamNews) -> None:
    if news.ending is ExamEnding.NONE:
        _news_sender.tell(news)
    else:
        _send("tournament.news", news.to_json())


def _try_to_send_news(news: ExamNews) -> None:
    """Send news without retrying: the next news repeats all findings."""
    _try_to_send("tournament.news", news.to_json())


_progress_sender = ProgressSender(_send_progress, pause=WORD_SECONDS)
_news_sender = ProgressSender(_try_to_send_news)


def _try_to_send(task: str, message: object) -> None:
    with contextlib.suppress(OperationalError):
        app.send_task(task, args=[message], queue=RECORDS, retry=False)


def _send(task: str, message: object) -> None:
    app.send_task(task, args=[message], queue=RECORDS, retry=True, retry_policy=REPORT_RETRY)
