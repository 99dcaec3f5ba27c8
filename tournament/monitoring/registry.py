"""The metrics of this process, and everything that ``/metrics`` answers.

Imported within ``shared_measurements``.
"""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from tournament.monitoring.sharing import FOLDER
from tournament.monitoring.values import SiteValues

BUCKETS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

_MINE = CollectorRegistry()
REQUEST_SECONDS = Histogram(
    "duarena_request_seconds",
    "Time to make the response to a request, by page and kind of status",
    ["page", "status"],
    buckets=BUCKETS_S,
    registry=_MINE,
)


def metrics() -> bytes:
    """All metrics in the text format of Prometheus: those of the site, and those of all its processes."""
    registry = CollectorRegistry()
    registry.register(SiteValues())
    if FOLDER in os.environ:
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
    return generate_latest(registry) + generate_latest(_MINE)
