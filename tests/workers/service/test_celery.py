"""How the Celery app of a worker is configured."""

from __future__ import annotations

import time
from multiprocessing import Value
from types import SimpleNamespace
from typing import Any

import pytest
from billiard import pool as billiard_pool

from workers.service.celery import RESULTS_READ_SECONDS, app


def test_a_stopping_slot_waits_at_most_two_seconds_for_results_that_nobody_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    slot = SimpleNamespace(on_ready_counter=Value("i", 0))
    wait: Any = vars(billiard_pool.Worker)["_ensure_messages_consumed"]
    assert wait(slot, completed=1) is False
    assert 0 < sum(pauses) <= 1.01 * RESULTS_READ_SECONDS <= 1.01 * app.conf.worker_soft_shutdown_timeout
