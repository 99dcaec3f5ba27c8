"""The worker's side of the door: asks for work and posts what a slot reports, over HTTP.

Reports, and the last news of a check, are in the spool (files) until the site has confirmed them, whatever
happens to this process and to the site. A thread posts, so the clocks of a game never wait for the network.
"""

from __future__ import annotations

import logging
import os
import random
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import msgspec

from engines.files import atomic_file
from engines.http_client import BadAnswer, ErrorAnswer, KeptConnection, NoAnswer, token_header
from workers.bundles.bundle_site import (
    PROTOCOL_HEADERS,
    MessageRefused,
    SiteAway,
    TokenRefused,
    refusal,
    strange_site,
)
from workers.jobs import (
    MAX_HELD,
    Admission,
    Ask,
    Batch,
    ComplianceEnding,
    ComplianceNews,
    GameReport,
    Heartbeat,
    JobError,
    Post,
    PostAnswer,
    Progress,
    SearchNews,
    Work,
)
from workers.messages import Message, decode

WORK_PATH, WORKERS_PATH = "/api/work/", "/api/workers/"
TIMEOUT_SECONDS = 20.0
"""The longest time without receiving a byte."""
MAX_ANSWER_BYTES = 8_000_000
MAX_CHARACTERS = 1_000_000
"""The length of all reports in one post; a longer report is posted alone."""
GATHER_SECONDS = 1.0
"""The shortest time between two posts of a slot, unless the site says how often it wants the moves of a
game that is watched; reports wait that long for others.
"""
RENEW_SECONDS = 2.0
"""The longest time between two posts of a slot with a job: the answer may stop the job."""
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 60.0
"""Pauses before a failed post is repeated; a sixth of a lease at most, if one is known."""
KEPT_SECONDS = 7 * 24 * 3600
"""Reports that the site has not confirmed for so long are deleted."""
SPOOL_BYTES = 1_000_000_000
"""A worker with more unconfirmed reports takes no more work."""

log = logging.getLogger("workers.service.site")


class SiteDoor:
    """The site's three addresses for workers. Requests may be repeated; all raise ``SiteAway``."""

    def __init__(self, address: str, token: str) -> None:
        headers = {**PROTOCOL_HEADERS, **token_header(token)}
        self._address = address.rstrip("/")
        self.connection = KeptConnection(self._address, timeout=TIMEOUT_SECONDS, headers=headers)

    def ask(self, ask: Ask) -> Batch | None:
        return self._send(WORK_PATH, ask, "batch", Batch)

    def post(self, job: str, post: Post) -> PostAnswer:
        return self._send(f"{WORK_PATH}{quote(job, safe='')}/", post, "answer", PostAnswer) or PostAnswer()

    def beat(self, heartbeat: Heartbeat) -> Admission:
        found = self._send(WORKERS_PATH, heartbeat, "admission", Admission)
        if found is None:
            raise strange_site(self._address)
        return found

    def _send(self, path: str, value: object, name: str, kind: type[Message]) -> Message | None:
        """The value ``name`` of the answer; None for an answer without content."""
        body = msgspec.json.encode(value)
        try:
            data = self.connection.post(path, body, MAX_ANSWER_BYTES)
            if not data:
                return None
            return decode(kind, msgspec.json.decode(data, type=dict[str, msgspec.Raw])[name])
        except NoAnswer as error:
            raise SiteAway(f"{self._address} does not answer: {error}") from None
        except ErrorAnswer as answer:
            raise refusal(self._address, answer) from None
        except JobError as error:
            raise TokenRefused(f"{self._address} sends what this worker cannot read: {error}") from None
        except (BadAnswer, ValueError, KeyError, RecursionError):
            raise strange_site(self._address) from None


@dataclass(slots=True)
class Parcel:
    """Reports of one job, or news that may not be lost, that are posted together; ``path`` is its file."""

    job: str
    reports: tuple[GameReport, ...]
    news: ComplianceNews | None = None
    search: SearchNews | None = None
    path: Path | None = None
    size: int = 0


@dataclass(frozen=True, slots=True)
class _Kept:
    """The file of a parcel."""

    job: str
    reports: tuple[GameReport, ...]
    news: ComplianceNews | None
    search: SearchNews | None = None


class Spool:
    """A folder of parcels, one file each. ``folders`` are read at the start; the first one is written."""

    def __init__(self, *folders: Path) -> None:
        self._folders = folders
        self._number = 0

    def write(self, parcel: Parcel) -> None:
        """Keep a parcel on disk. If that fails, ``parcel.path`` stays None."""
        data = msgspec.json.encode(_Kept(parcel.job, parcel.reports, parcel.news, parcel.search))
        self._number += 1
        path = self._folders[0] / f"{time.time_ns():020}-{os.getpid()}-{self._number}.json"
        parcel.size = len(data)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_file(path) as file:
                file.write(data)
        except OSError as error:
            log.error("reports cannot be kept on disk, so this slot takes no work: %s", error)
        else:
            parcel.path = path

    def read(self) -> Iterator[Parcel]:
        """The parcels of earlier processes, the oldest first."""
        paths = [path for folder in self._folders for path in folder.glob("*.json")]
        for path in sorted(paths, key=lambda path: path.name):
            try:
                parcel = _read_parcel(path)
            except (OSError, ValueError, RecursionError) as error:
                log.error("the report in %s cannot be read and is deleted: %s", path, error)
                with suppress(OSError):
                    path.unlink()
            else:
                yield parcel

    @staticmethod
    def delete(parcel: Parcel) -> None:
        if parcel.path is not None:
            with suppress(OSError):  # posted again after the next start
                parcel.path.unlink()

    @staticmethod
    def is_old(parcel: Parcel) -> bool:
        return parcel.path is not None and time.time() - int(parcel.path.name[:20]) / 1e9 > KEPT_SECONDS


def _read_parcel(path: Path) -> Parcel:
    data = path.read_bytes()
    kept = decode(_Kept, data)
    int(path.name[:20])
    return Parcel(str(uuid.UUID(kept.job)), kept.reports, kept.news, kept.search, path, len(data))


def spool_folders(spool: Path, slot: int, slots: int) -> list[Path]:
    """The folders of a slot in a worker's spool, with those of slots that the worker no longer has."""
    known = [int(path.name) for path in spool.glob("*") if path.name.isascii() and path.name.isdigit()]
    left = [number for number in sorted(known) if number >= slots and number % slots == slot]
    return [spool / str(number) for number in (slot, *left)]


class Sender:
    """Sends what one slot says of its jobs, and asks for work; only ``ask`` and ``flush`` wait."""

    def __init__(
        self,
        door: SiteDoor,
        spool: Spool,
        *,
        worker: str,
        run: str,
        slot: int,
        most_bytes: int = SPOOL_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._door = door
        self._spool = spool
        self._post = Post(worker, run, slot)
        self._most_bytes = most_bytes
        self._clock = clock
        self._sending = threading.Lock()
        """Held while posts are sent; the fields up to ``_ask`` are used only then."""
        self._parcels = list(spool.read())
        self._pause = 0.0
        self._next_try = self._last_post = float("-inf")
        self._known: tuple[str, int] = ("", 0)
        self._ask = ""
        self._job = ""
        self._lease_s = 0
        self._reports: deque[tuple[str, GameReport]] = deque()
        self._ended: deque[Parcel] = deque()
        self._released: deque[tuple[str, tuple[str, ...]]] = deque()
        self._progress: Progress | None = None
        self._news: Parcel | None = None
        self._stopped: set[str] = set()
        self._pace_ms = 0
        self._wake = threading.Event()
        if self._parcels:
            log.warning("%d posts of an earlier process are sent", len(self._parcels))

    def start(self) -> None:
        """Post in a thread from now on."""
        threading.Thread(target=self._run, name="sender", daemon=True).start()

    # Called by the slot while it plays; none of these waits

    def begin(self, job: str, lease_s: int) -> None:
        """Post about this job from now on, and renew its lease until ``end``."""
        self._stopped.clear()
        self._lease_s, self._job = lease_s, job
        self._wake.set()

    def end(self) -> None:
        self._progress = self._news = None
        self._job = ""

    def report(self, report: GameReport) -> None:
        self._reports.append((self._job, report))
        self._wake.set()

    def release(self, attempts: Sequence[str]) -> None:
        """Tell the site that these attempts of the job are not played to their end: they wait again."""
        self._released.append((self._job, tuple(attempts)))
        self._wake.set()

    def show(self, progress: Progress) -> None:
        self._progress = progress
        self._wake.set()

    def tell(self, news: ComplianceNews | SearchNews) -> None:
        """Send news of a check or a search; what is over, or evaluated, is kept until the site has it."""
        if isinstance(news, SearchNews):
            is_last = news.is_over or any(one.move for one in news.found)
            parcel = Parcel(self._job, (), search=news)
        else:
            is_last = news.ending is not ComplianceEnding.NONE
            parcel = Parcel(self._job, (), news)
        self._news = None if is_last else parcel
        if is_last:
            self._ended.append(parcel)
        self._wake.set()

    def is_stopped(self, what: str) -> bool:
        """Whether the site has stopped this attempt, check or search of the job."""
        return what in self._stopped

    def is_watched(self) -> bool:
        """Whether somebody watches the game that is played."""
        return self._pace_ms > 0

    # Called by the slot between two jobs

    def ask(self, takes: tuple[Work, ...]) -> Batch | None:
        """Ask for work; None if there is none. After ``SiteAway`` the next call repeats the request.

        Reports are posted while the next games are played, or at once if there are none.
        """
        with self._sending:
            self._pack()
            if reason := self._find_fault():
                raise SiteAway(reason)
            self._ask = self._ask or str(uuid.uuid4())
            holds = tuple(dict.fromkeys(parcel.job for parcel in self._parcels))
            post = self._post
            batch = self._door.ask(Ask(self._ask, post.worker, post.run, post.slot, takes, holds))
            self._ask = ""
            if batch is None:
                self._send_due()
            return batch

    def flush(self, seconds: float) -> None:
        """Send everything now; gives up after about ``seconds``."""
        if self._sending.acquire(timeout=seconds):
            try:
                self._door.connection.timeout = seconds
                self._send()
            finally:
                self._door.connection.timeout = TIMEOUT_SECONDS
                self._sending.release()

    def _find_fault(self) -> str:
        """Why no work may be taken, as a sentence; empty if it may."""
        for parcel in self._parcels:
            if parcel.path is None:
                self._spool.write(parcel)
            if parcel.path is None:
                return "reports cannot be kept on disk"
        size = sum(parcel.size for parcel in self._parcels)
        if size > self._most_bytes or len(self._parcels) > MAX_HELD:
            return "too many reports wait for the site"
        return ""

    # The thread

    def _run(self) -> None:
        while True:
            self._wake.wait(RENEW_SECONDS if self._job or self._parcels else None)
            while (left := self._until_next()) > 0:
                time.sleep(min(left, GATHER_SECONDS))
            self._wake.clear()
            try:
                with self._sending:
                    self._send_due()
            except Exception:
                log.exception("a post cannot be sent")
                self._last_post = self._clock()

    def _until_next(self) -> float:
        """Seconds until something may be posted."""
        gather_s = self._pace_ms / 1000 or GATHER_SECONDS
        return max(self._next_try, self._last_post + gather_s) - self._clock()

    def _send_due(self) -> None:
        if self._clock() >= self._next_try:
            self._send()

    def _send(self) -> None:
        """Post everything; what the site does not confirm is posted again after a pause."""
        self._pack()
        trouble = ""
        try:
            for parcel in self._parcels[:]:
                try:
                    self._send_parcel(parcel)
                except TokenRefused as refused:  # by its job; the other ones may be accepted
                    trouble = refused.why
            self._send_state()
        except SiteAway as away:
            trouble = away.why
        self._note(trouble)

    def _pack(self) -> None:
        """Put the reports and last news since the last call into parcels."""
        while self._reports:
            job, some, length = self._reports[0][0], list[GameReport](), 0
            while self._reports and self._reports[0][0] == job:
                length += _length(self._reports[0][1])
                if some and length > MAX_CHARACTERS:
                    break
                some.append(self._reports.popleft()[1])
            self._keep(Parcel(job, tuple(some)))
        while self._ended:
            self._keep(self._ended.popleft())

    def _keep(self, parcel: Parcel) -> None:
        self._spool.write(parcel)
        self._parcels.append(parcel)

    def _send_parcel(self, parcel: Parcel) -> None:
        """Post a parcel and delete it; one that the site refuses for ever is split, or deleted."""
        if self._spool.is_old(parcel):
            log.error("a report for job %s is deleted: the site has not taken it for a week", parcel.job)
        else:
            try:
                self._send_post(parcel.job, self._post_of(parcel))
            except MessageRefused as refused:
                if len(parcel.reports) > 1:
                    for report in parcel.reports:
                        self._keep(Parcel(parcel.job, (report,)))
                else:
                    log.error("a report for job %s is deleted: %s", parcel.job, refused.why)
        self._parcels.remove(parcel)
        self._spool.delete(parcel)

    def _send_state(self) -> None:
        """Post what is no report; raises ``SiteAway``."""
        while self._released:
            job, attempts = self._released[0]
            self._try_post(job, replace(self._post, returned=attempts))
            self._released.popleft()
        job = self._job
        news, self._news = self._news, None
        is_due = self._clock() >= self._last_post + RENEW_SECONDS
        if job and (self._progress or news or is_due):
            self._try_post(job, self._post if news is None else self._post_of(news))

    def _post_of(self, parcel: Parcel) -> Post:
        return replace(self._post, reports=parcel.reports, news=parcel.news, search=parcel.search)

    def _unknown(self, progress: Progress) -> Progress:
        """With only the plies that the site does not have."""
        attempt, known = self._known
        known = min(known, len(progress.moves)) if attempt == progress.attempt else 0
        return replace(progress, from_ply=known, moves=progress.moves[known:])

    def _try_post(self, job: str, post: Post) -> None:
        """Post what may be lost."""
        try:
            self._send_post(job, post)
        except MessageRefused as refused:
            log.error("a post for job %s is lost: %s", job, refused.why)

    def _send_post(self, job: str, post: Post) -> None:
        """Post something, with the moves of the running game if it is of this job."""
        if job == self._job:
            progress, self._progress = self._progress, None
            post = replace(post, progress=progress and self._unknown(progress))
        answer = self._door.post(job, post)
        self._last_post = self._clock()
        self._stopped.update(answer.stop)
        if post.progress is not None:
            self._known = (post.progress.attempt, answer.known)
            self._pace_ms = answer.pace_ms

    def _note(self, trouble: str) -> None:
        """Set the time of the next try, and log when the site ceases or begins to answer."""
        if not trouble:
            if self._pause:
                log.warning("the site takes reports again")
            self._pause, self._next_try = 0.0, float("-inf")
            return
        if not self._pause:
            log.warning("reports wait: %s", trouble)
        longest = min(LONGEST_PAUSE_SECONDS, self._lease_s / 6 or LONGEST_PAUSE_SECONDS)
        self._pause = min(max(FIRST_PAUSE_SECONDS, 2 * self._pause), max(FIRST_PAUSE_SECONDS, longest))
        self._next_try = self._clock() + random.uniform(0.5, 1.0) * self._pause


def _length(report: GameReport) -> int:
    """The characters of its texts of any length."""
    logs = (report.white.stderr, report.white.lines, report.black.stderr, report.black.lines)
    return sum(map(len, logs)) + sum(len(token) + len(comment) for token, comment in report.moves)
