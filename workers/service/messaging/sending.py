"""The messages that a worker sends to the record keeper, on the queue ``records``.

A report must arrive, so sending it waits for an absent broker. Progress, news and trouble are sent once:
the next message of the kind replaces a lost one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from kombu.exceptions import OperationalError

from workers.jobs import ComplianceEnding, ComplianceNews, GameReport, Progress, Release
from workers.service.celery import app
from workers.service.messaging.heartbeat import Heartbeat, Trouble
from workers.service.messaging.progress import ProgressSender
from workers.service.messaging.signing import RECORDS

REPORT_RETRY = {"max_retries": 60, "interval_start": 0.2, "interval_step": 0.5, "interval_max": 2.0}
"""Sending a report waits up to two minutes for an absent broker."""

PROGRESS_PAUSE_SECONDS = 1.0
"""The shortest interval between progress messages: a viewer cannot follow shorter games."""

MOST_CHARACTERS = 1_000_000
"""Of the reports in one message. In the message each has up to eight bytes, a tenth of ``MOST_BYTES``."""


def send_reports(reports: Sequence[GameReport]) -> None:
    """Send reports in as few messages as their lengths allow."""
    some: list[GameReport] = []
    length = 0
    for report in reports:
        if some and length + _length(report) > MOST_CHARACTERS:
            _send_some(some)
            some, length = [], 0
        some.append(report)
        length += _length(report)
    if some:
        _send_some(some)


def _length(report: GameReport) -> int:
    """The characters of its texts of any length."""
    logs = (report.white.stderr, report.white.lines, report.black.stderr, report.black.lines)
    return sum(map(len, logs)) + sum(len(token) + len(comment) for token, comment in report.moves)


def _send_some(reports: Sequence[GameReport]) -> None:
    _send("tournament.record", [report.to_json() for report in reports])


def send_releases(releases: Sequence[Release]) -> None:
    """Return games to the site unplayed."""
    _send("tournament.release", [release.to_json() for release in releases])


def send_trouble(trouble: Trouble) -> None:
    _try_to_send("tournament.trouble", trouble.to_json())


def send_heartbeat(heartbeat: Heartbeat) -> None:
    """Send a heartbeat. Raises ``ConnectionError`` if the broker is gone, so that the worker reconnects."""
    try:
        app.send_task("tournament.heartbeat", args=[heartbeat.to_json()], queue=RECORDS, retry=False)
    except OperationalError as error:
        raise ConnectionError(str(error)) from error


def send_news(news: ComplianceNews) -> None:
    """Send the last news of a compliance check at once; earlier ones in a thread, or not at all."""
    if news.ending is ComplianceEnding.NONE:
        _news_sender.put(news)
    else:
        _send("tournament.news", news.to_json())


def _send_progress(progress: Progress) -> None:
    _try_to_send("tournament.progress", progress.to_json())


def _try_to_send_news(news: ComplianceNews) -> None:
    _try_to_send("tournament.news", news.to_json())


def _try_to_send(task: str, message: object) -> None:
    with contextlib.suppress(OperationalError):
        app.send_task(task, args=[message], queue=RECORDS, retry=False)


def _send(task: str, message: object) -> None:
    app.send_task(task, args=[message], queue=RECORDS, retry=True, retry_policy=REPORT_RETRY)


PROGRESS = ProgressSender(_send_progress, pause=PROGRESS_PAUSE_SECONDS)
"""The progress sender of this process. Without any progress message the lease of a game expires."""

_news_sender = ProgressSender(_try_to_send_news)
