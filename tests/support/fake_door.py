"""A small HTTP server in the place of a site: the door for workers, and bundles. It can misbehave."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from tests.support.jobs import wait_until
from tests.support.servers import LocalServer, QuietHandler
from workers.jobs import (
    PROTOCOL,
    Admission,
    Ask,
    Batch,
    ComplianceJob,
    ComplianceNews,
    GameJob,
    GameReport,
    Heartbeat,
    Post,
    PostAnswer,
    Progress,
    SearchJob,
    SearchNews,
)

PATIENCE_SECONDS = 60.0
"""The longest wait; only a failing test or a busy machine reaches it."""
LEASE_SECONDS = 30
TOKEN = "duarena_key"


@dataclass
class FakeDoor:
    """Gives batches in their order and keeps what workers say; like a site it answers a repeated ask equally.

    ``refusal`` is the answer to every request: a status and a sentence. ``is_away``: connections are closed
    unanswered. ``loses(path)``: the request takes effect, and its answer is lost.
    """

    admits: bool = True
    why: str = "by the test"
    bundle: bytes = b""
    refusal: tuple[int, str] | None = None
    protocol: int = PROTOCOL
    is_away: bool = False
    loses: Callable[[str], bool] = lambda path: False
    batches: list[Batch] = field(default_factory=list)
    stopped: set[str] = field(default_factory=set)
    asks: list[Ask] = field(default_factory=list)
    posts: list[tuple[str, Post]] = field(default_factory=list)
    heartbeats: list[Heartbeat] = field(default_factory=list)
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    """Path and authorization of each request, also of those that were not answered."""
    log: list[str] = field(default_factory=list)
    """The paths of the requests that took effect, in their order."""

    def __post_init__(self) -> None:
        self._given: dict[str, Batch | None] = {}
        self._lock = threading.Lock()
        self.server = LocalServer(_handler(self))
        self.url = self.server.url

    # What the site has

    def give(self, *jobs: GameJob) -> str:
        """Have these jobs taken as one batch; returns its id."""
        job = str(uuid.uuid4())
        self.batches.append(Batch(job, LEASE_SECONDS, tuple(replace(one, job=job) for one in jobs)))
        return job

    def give_check(self, check: ComplianceJob) -> None:
        self.batches.append(Batch(check.exam, LEASE_SECONDS, check=check))

    def give_search(self, search: SearchJob) -> None:
        self.batches.append(Batch(search.search, LEASE_SECONDS, search=search))

    # What workers have said

    @property
    def reports(self) -> list[GameReport]:
        return [report for _, post in self.posts for report in post.reports]

    @property
    def returned(self) -> list[str]:
        return [attempt for _, post in self.posts for attempt in post.returned]

    @property
    def progress(self) -> list[Progress]:
        return [post.progress for _, post in self.posts if post.progress is not None]

    @property
    def news(self) -> list[ComplianceNews]:
        return [post.news for _, post in self.posts if post.news is not None]

    @property
    def searched(self) -> list[SearchNews]:
        return [post.search for _, post in self.posts if post.search is not None]

    def wait_for(self, what: Callable[[], Sequence[Any]], count: int = 1) -> None:
        assert wait_until(lambda: len(what()) >= count, PATIENCE_SECONDS), what()

    def wait_for_reports(self, count: int) -> list[GameReport]:
        self.wait_for(lambda: self.reports, count)
        return self.reports

    def hear(self, is_so: Callable[[Heartbeat], bool] = lambda heartbeat: True) -> Heartbeat:
        """The next heartbeat for which that is so."""
        known = len(self.heartbeats)
        self.wait_for(lambda: [beat for beat in self.heartbeats[known:] if is_so(beat)])
        return next(beat for beat in self.heartbeats[known:] if is_so(beat))

    # Requests

    def answer(self, path: str, value: Any) -> tuple[int, Any]:
        """The status and the JSON for a request, which takes effect."""
        with self._lock:
            self.log.append(path)
            if path == "/api/workers/":
                self.heartbeats.append(msgspec.convert(value, Heartbeat))
                admission = Admission(self.admits, "" if self.admits else self.why)
                return 200, {"admission": msgspec.to_builtins(admission)}
            if path == "/api/work/":
                return self._take(msgspec.convert(value, Ask))
            job = path.removeprefix("/api/work/").rstrip("/")
            post = msgspec.convert(value, Post)
            self.posts.append((job, post))
            known = len(post.progress.moves) + post.progress.from_ply if post.progress else 0
            return 200, {"answer": msgspec.to_builtins(PostAnswer(tuple(sorted(self.stopped)), known))}

    def _take(self, ask: Ask) -> tuple[int, Any]:
        self.asks.append(ask)
        if not self.admits:
            return 403, {"error": self.why}
        if ask.ask not in self._given:
            self._given[ask.ask] = self.batches.pop(0) if self.batches else None
        batch = self._given[ask.ask]
        return (204, None) if batch is None else (200, {"batch": msgspec.to_builtins(batch)})


def _handler(door: FakeDoor) -> type[QuietHandler]:
    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.body()
            if not self._is_answered():
                return
            if self.command == "GET":
                self._send(200, b"{}" if self.path.endswith("/bundles/") else door.bundle)
                return
            status, value = door.answer(self.path, json.loads(body))
            if door.loses(self.path):
                self.close_connection = True
                return
            told = {"ok": status < 300, **value} if value is not None else None
            self._send(status, b"" if told is None else json.dumps(told).encode())

        def _is_answered(self) -> bool:
            """Whether the request is answered usually; else it has been dealt with."""
            door.requests.append((self.path, self.headers["Authorization"]))
            if door.is_away:
                self.close_connection = True
                return False
            is_bundle = self.command == "GET" and not self.path.endswith("/bundles/")
            is_foreign = not is_bundle and self.headers["Duarena-Protocol"] != str(door.protocol)
            if door.refusal is not None or is_foreign:
                status, sentence = door.refusal or (403, "Install the release of the site.")
                self._send(status, json.dumps({"ok": False, "error": sentence}).encode())
                return False
            return True

        def _send(self, status: int, body: bytes) -> None:
            self.reply(status, body, Duarena_Protocol=door.protocol)

    return Handler


@contextmanager
def fake_door(**options: Any) -> Iterator[FakeDoor]:
    door = FakeDoor(**options)
    with door.server:
        yield door


def seconds_until(is_so: Callable[[], object]) -> float:
    """How long it took until the condition became true."""
    began = time.monotonic()
    assert wait_until(is_so, PATIENCE_SECONDS)
    return time.monotonic() - began
