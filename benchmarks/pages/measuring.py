"""Requests pages through Django's test client and measures the processor time of each request."""

from __future__ import annotations

import gc
import math
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.utils import timezone

from benchmarks.pages.addresses import GUEST, PageCase, SiteFacts
from benchmarks.pages.site import refresh_clocks
from tournament.models import Token, User
from tournament.services.accounts.tokens import create_token
from tournament.services.ladders.stored_queue import refresh_queue
from tournament.services.schedule.stored_tables import refresh_tables

MOST_MS: Final = 50.0
MOST_MS_LARGE: Final = 100.0
_LARGE: Final = (
    "full table", "records", "csv", "json", "pgn", "export", "standings", "crosstable", "ratings", "files",
    "results", "estimates", "scores", "pairings", "pairs", "corrections",
)  # fmt: skip
"""Words in the title of an export or of the full table, which may take longer."""


@dataclass(frozen=True, slots=True)
class PageTimes:
    """The requests of one case: milliseconds of processor time, the most queries, the most bytes."""

    case: PageCase
    times_ms: Sequence[float]
    queries: int
    size: int
    statuses: frozenset[int]

    @property
    def median_ms(self) -> float:
        return statistics.median(self.times_ms)

    @property
    def late_ms(self) -> float:
        """The 95th percentile."""
        return sorted(self.times_ms)[math.ceil(0.95 * len(self.times_ms)) - 1]

    @property
    def limit_ms(self) -> float:
        return MOST_MS_LARGE if any(word in self.case.title for word in _LARGE) else MOST_MS

    @property
    def is_slow(self) -> bool:
        return self.late_ms > self.limit_ms


class ProcessorClock:
    """The processor time of this process and, if the database is a server on this machine, of its process."""

    def __init__(self) -> None:
        self._server: Path | None = None
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                path = Path(f"/proc/{cursor.fetchone()[0]}/schedstat")
            self._server = path if path.exists() else None

    @property
    def counts_server(self) -> bool:
        return self._server is not None

    def read_ms(self) -> float:
        ns = time.process_time_ns()
        if self._server is not None:
            ns += int(self._server.read_text().split()[0])
        return ns / 1e6


def measure(cases: Sequence[PageCase], requests: int, seed: int = 1) -> Iterator[PageTimes]:
    """Request each case once, to load templates, empty the caches, and then request it with random ids.

    Statuses that are no answer (500 and above) are part of the result, like all others.
    """
    source = random.Random(seed)
    facts, clock = SiteFacts.collect(source), ProcessorClock()
    clients: dict[str, Client] = {}
    for visitor in sorted({case.visitor for case in cases}):
        clients[visitor] = _client(visitor)
    for case in cases:
        _measure(case, clients[case.visitor], facts, source, clock, 1)
    cache.clear()
    gc.collect()
    gc.freeze()  # as in ``tournament.wsgi``
    for case in cases:
        _tend()
        yield _measure(case, clients[case.visitor], facts, source, clock, requests)


def _tend() -> None:
    """What the record keeper does every few seconds."""
    refresh_clocks()
    refresh_queue(timezone.now())
    while refresh_tables(timezone.now()):
        pass


def _measure(
    case: PageCase,
    client: Client,
    facts: SiteFacts,
    source: random.Random,
    clock: ProcessorClock,
    requests: int,
) -> PageTimes:
    times, statuses = list[float](), set[int]()
    most_queries = most_bytes = 0
    headers = {"Accept-Encoding": "gzip", **({"HX-Request": "true"} if case.polls else {})}
    for _ in range(requests):
        path = case.path(facts, source)
        with _Counter() as counter:
            begun = clock.read_ms()
            response: Any = client.get(path, headers=headers)
            chunks = iter(response)
            size = len(next(chunks, b""))
            times.append(clock.read_ms() - begun)
        size += sum(map(len, chunks))  # of a file, which the server sends without this code
        most_queries, most_bytes = max(most_queries, counter.count), max(most_bytes, size)
        statuses.add(response.status_code)
    return PageTimes(case, times, most_queries, most_bytes, frozenset(statuses))


class _Counter:
    """Counts statements; cheaper than Django's log of their texts."""

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> _Counter:
        self._wrapper = connection.execute_wrapper(self._note)
        self._wrapper.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._wrapper.__exit__(*raised)

    def _note(self, execute: Any, *statement: Any) -> Any:
        self.count += 1
        return execute(*statement)


def _client(visitor: str) -> Client:
    """A client that is logged in; with a token too, which only the API reads."""
    if visitor == GUEST:
        return Client()
    user = User.objects.get(username=visitor)
    scopes = [scope for scope in Token.Scope.values if user.is_staff or scope != Token.Scope.WORKER]
    user.tokens.all().delete()
    _, text = create_token(user, "pages", scopes)
    client = Client(headers={"Authorization": f"Bearer {text}"})
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client
