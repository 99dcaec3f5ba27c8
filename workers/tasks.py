"""What arrives on the queues ``games`` and ``validation``, and what goes back on ``records``."""

from __future__ import annotations

import functools
import logging
import os
import socket
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kombu.exceptions import OperationalError

from workers.celery import RECORDS, app, is_stopping
from workers.conditions import measure_speed
from workers.courier import Courier
from workers.examination import Ending, ExamJob, ExamNews, examine
from workers.jobs import GameJob, GameReport, JobError, Progress, Release
from workers.outbox import Outbox
from workers.parcel import play_parcel
from workers.runner import Line, Worker, refuse_job
from workers.sandbox.levels import describe
from workers.sandbox.policy import Policy, make_policy, write_verdict
from workers.sandbox.probe import probe

log = logging.getLogger("workers.tasks")

REPORT_RETRY = {"max_retries": 60, "interval_start": 0.2, "interval_step": 0.5, "interval_max": 2.0}
"""A report is worth waiting two minutes for a broker that is gone; a word of progress is not."""

WORD_SECONDS = 1.0
"""From one word of progress to the next: who looks on cannot follow games that are shorter."""


@app.task(name="workers.play")
def play(message: Any) -> None:
    """A parcel of jobs, or one; games are reported as they end, what is left at a stop is given back."""
    worker = _worker()
    _courier.hurry()  # the first word is what tells the site that these games are begun
    with Outbox(_report) as outbox:
        jobs = list(_read_jobs(message, worker, outbox))
        left = play_parcel(jobs, worker, Line(outbox.put, _courier.tell, is_stopping))
    if left:
        releases = [Release(game.key, game.attempt, worker.name) for game in left]
        _send("tournament.release", [release.to_json() for release in releases])


def _read_jobs(message: object, worker: Worker, outbox: Outbox[GameReport]) -> Iterator[GameJob]:
    """The jobs that can be read; the games of the others are reported void."""
    for value in message if isinstance(message, list) else [message]:
        try:
            yield GameJob.from_json(value)
        except JobError as error:
            log.error("a job cannot be read: %s", error)
            for refusal in refuse_job(value, worker, error):
                outbox.put(refusal)


@app.task(name="workers.examine")
def examine_bot(message: Any) -> None:
    """A bot to be examined; news of it is told as it goes, and the last in any case."""
    try:
        job = ExamJob.from_json(message)
    except JobError as error:
        log.error("an examination cannot be read: %s", error)  # its site hears no word, and sends it anew
        return
    examine(job, _worker(), _tell_news, is_stopping)


def _worker() -> Worker:
    """This process, and its folders as the environment names them."""
    return Worker(
        name=f"{socket.gethostname()}/{os.getpid()}",
        store=Path(os.environ.get("DUARENA_BUNDLES", "bundles")),
        cache=_cache(),
        policy=settle_policy(),
        speed=settle_speed(),
    )


def _cache() -> Path:
    usual = os.path.join(tempfile.gettempdir(), f"duarena-cache-{os.getuid()}")
    return Path(os.environ.get("DUARENA_CACHE") or usual)


@functools.cache
def settle_policy() -> Policy:
    """Try out once, before the first game, which walls hold here; the cache folder keeps what was found."""
    verdict, sandbox = probe(socket.gethostname())
    for line in describe(verdict):
        log.warning("%s", line)
    write_verdict(_cache(), verdict)
    return make_policy(verdict, sandbox, os.environ)


@functools.cache
def settle_speed() -> str:
    """How fast this worker is, measured at its start."""
    return measure_speed()


def _report(reports: Sequence[GameReport]) -> None:
    _send("tournament.record", [report.to_json() for report in reports])


def _tell(progress: Progress) -> None:
    try:
        app.send_task("tournament.progress", args=[progress.to_json()], queue=RECORDS, retry=False)
    except OperationalError:
        return  # the next word will do; without any for long enough the lease ends


def _tell_news(news: ExamNews) -> None:
    if news.ending is Ending.NONE:
        _news_courier.tell(news)
    else:
        _send("tournament.news", news.to_json())


def _carry_news(news: ExamNews) -> None:
    try:
        app.send_task("tournament.news", args=[news.to_json()], queue=RECORDS, retry=False)
    except OperationalError:
        return  # the next news has all that this had


_courier = Courier(_tell, pause=WORD_SECONDS)
_news_courier = Courier(_carry_news)


def _send(task: str, message: object) -> None:
    app.send_task(task, args=[message], queue=RECORDS, retry=True, retry_policy=REPORT_RETRY)
