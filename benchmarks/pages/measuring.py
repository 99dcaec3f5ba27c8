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
from tournament.services.schedule.stored_tables import refresh_tables

MOST_MS, MOST_MS_LARGE = 50.0, 100.0
LARGE: Final = ("full", ".csv", ".json", ".pgn", "export")
"""Words in the title or address of an export or of the full table, which may take longer."""


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
    def is_slow(self) -> bool:
        text = self.case.title + self.case.template
        return self.late_ms > (MOST_MS_LARGE if any(word in text for word in LARGE) else MOST_MS)


def measure(cases: Sequence[PageCase], requests: int, seed: int = 1) -> Iterator[PageTimes]:
    """Request each case once, to load templates, empty the caches, and then request it with random ids.

    Statuses that are no answer (500 and above) are part of the result, like all others.
    """
    facts, stat = SiteFacts(random.Random(seed)), _server_stat()
    clients = {visitor: _client(visitor) for visitor in sorted({case.visitor for case in cases})}
    for case in cases:
        _measure(case, clients[case.visitor], facts, stat, 1)
    cache.clear()
    gc.collect()
    gc.freeze()  # as in ``tournament.http.process``
    for case in cases:
        refresh_clocks()
        while refresh_tables(timezone.now()):  # as the record keeper does every few seconds
            pass
        yield _measure(case, clients[case.visitor], facts, stat, requests)


def _measure(case: PageCase, client: Client, facts: SiteFacts, stat: Path | None, requests: int) -> PageTimes:
    times, statuses, sizes, counts = list[float](), set[int](), list[int](), list[int]()
    headers = {"Accept-Encoding": "gzip", **({"HX-Request": "true"} if case.polls else {})}

    def count(execute: Any, *statement: Any) -> Any:
        counts[-1] += 1
        return execute(*statement)

    for _ in range(requests):
        path = case.template.format_map(facts)
        counts.append(0)
        with connection.execute_wrapper(count):
            begun = _processor_ms(stat)
            response: Any = client.get(path, headers=headers)
            chunks = iter(response)
            size = len(next(chunks, b""))
            times.append(_processor_ms(stat) - begun)
        sizes.append(size + sum(map(len, chunks)))  # of a file, which the server sends without this code
        statuses.add(response.status_code)
    return PageTimes(case, times, max(counts), max(sizes), frozenset(statuses))


def _server_stat() -> Path | None:
    """The file with the processor time of the PostgreSQL process of this connection."""
    if connection.vendor != "postgresql":
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return Path(f"/proc/{cursor.fetchone()[0]}/schedstat")


def _processor_ms(stat: Path | None) -> float:
    server_ns = int(stat.read_text().split()[0]) if stat else 0
    return (time.process_time_ns() + server_ns) / 1e6


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
