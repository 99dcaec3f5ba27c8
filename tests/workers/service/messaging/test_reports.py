"""The report sender delivers every report once, in order, and several together if possible."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

import pytest

from workers.service.messaging.reports import ReportSender


def test_reports_in_quick_succession_are_delivered_together() -> None:
    delivered: list[list[int]] = []
    with ReportSender[int](lambda things: delivered.append(list(things)), pause=3600.0) as sender:
        for number in range(100):
            sender.put(number)
        assert delivered == []
    assert delivered == [[*range(100)]]


def test_a_single_report_is_delivered_after_a_pause() -> None:
    gone = threading.Event()
    with ReportSender[int](lambda things: gone.set(), pause=0.01) as sender:
        sender.put(1)
        assert gone.wait(60)


def test_putting_never_waits_and_the_end_waits_for_all() -> None:
    delivered: list[int] = []
    on_the_way, may_go_on = threading.Event(), threading.Event()

    def deliver(things: Sequence[int]) -> None:
        on_the_way.set()
        assert may_go_on.wait(60)
        delivered.extend(things)

    with ReportSender[int](deliver, pause=0.0) as sender:
        sender.put(0)
        assert on_the_way.wait(60)
        for number in range(1, 50):
            sender.put(number)
        assert delivered == []
        may_go_on.set()
    assert delivered == [*range(50)]


def test_a_failed_delivery_is_logged_and_the_next_report_is_delivered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    delivered: list[int] = []
    fallen = threading.Event()

    def deliver(things: Sequence[int]) -> None:
        if not fallen.is_set():
            fallen.set()
            raise ConnectionError
        delivered.extend(things)

    with caplog.at_level(logging.ERROR), ReportSender[int](deliver, pause=0.0) as sender:
        sender.put(1)
        assert fallen.wait(60)
        sender.put(2)
    assert delivered == [2]
    assert "will be played again" in caplog.text


def test_a_failed_delivery_at_the_end_is_raised() -> None:
    def deliver(things: Sequence[int]) -> None:
        raise ConnectionError

    with pytest.raises(ConnectionError), ReportSender[int](deliver, pause=3600.0) as sender:
        sender.put(1)


def test_without_reports_nothing_is_delivered() -> None:
    with ReportSender[int](lambda things: pytest.fail("delivered nothing")):
        pass
