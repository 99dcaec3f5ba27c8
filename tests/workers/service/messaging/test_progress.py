"""The progress sender never blocks, and delivers the latest progress in the end."""

from __future__ import annotations

import queue
import threading

from workers.service.messaging.progress import ProgressSender


def test_sending_never_waits_and_the_latest_progress_is_delivered() -> None:
    delivered: list[int] = []
    on_the_way, may_go_on, all_sent = threading.Event(), threading.Event(), threading.Event()

    def deliver(word: int) -> None:
        on_the_way.set()
        assert may_go_on.wait(60)
        delivered.append(word)
        if word == 99:
            all_sent.set()

    sender = ProgressSender(deliver)
    sender.put(0)
    assert on_the_way.wait(60)
    for word in range(1, 100):
        sender.put(word)
    assert delivered == []
    may_go_on.set()
    assert all_sent.wait(60)
    assert delivered == [0, 99]


def test_a_failed_sender_thread_is_replaced() -> None:
    delivered: list[str] = []
    fallen = threading.Event()
    hook, threading.excepthook = threading.excepthook, lambda args: fallen.set()

    def deliver(word: str) -> None:
        if word == "fall":
            raise ConnectionError
        delivered.append(word)

    try:
        sender = ProgressSender(deliver)
        sender.put("fall")
        assert fallen.wait(60)
        assert sender._thread is not None
        sender._thread.join(60)
        sender.put("stand")
        sender._thread.join(0.01)
    finally:
        threading.excepthook = hook
    while not delivered:
        sender._thread.join(0.01)
    assert delivered == ["stand"]


def test_progress_within_the_pause_is_replaced_by_the_next_unless_it_is_flushed() -> None:
    now, carried = [0.0], queue.SimpleQueue[int]()
    sender = ProgressSender(carried.put, pause=1.0, clock=lambda: now[0])
    sender.put(1)
    assert carried.get(timeout=60) == 1
    now[0] = 0.9
    sender.put(2)
    now[0] = 1.0
    sender.put(3)
    assert carried.get(timeout=60) == 3
    sender.put(4)
    sender.flush_now()
    sender.put(5)
    assert carried.get(timeout=60) == 5
