"""The courier: never in the way, and in the end the latest word is out."""

from __future__ import annotations

import queue
import threading

from workers.courier import Courier


def test_telling_never_waits_and_the_latest_word_is_delivered() -> None:
    delivered: list[int] = []
    on_the_way, may_go_on, all_said = threading.Event(), threading.Event(), threading.Event()

    def deliver(word: int) -> None:
        on_the_way.set()
        assert may_go_on.wait(10)
        delivered.append(word)
        if word == 99:
            all_said.set()

    courier = Courier(deliver)
    courier.tell(0)
    assert on_the_way.wait(10)
    for word in range(1, 100):
        courier.tell(word)
    assert delivered == []
    may_go_on.set()
    assert all_said.wait(10)
    assert delivered == [0, 99]


def test_a_courier_who_fell_is_replaced() -> None:
    delivered: list[str] = []
    fallen = threading.Event()
    hook, threading.excepthook = threading.excepthook, lambda args: fallen.set()

    def deliver(word: str) -> None:
        if word == "fall":
            raise ConnectionError
        delivered.append(word)

    try:
        courier = Courier(deliver)
        courier.tell("fall")
        assert fallen.wait(10)
        assert courier._thread is not None
        courier._thread.join(10)
        courier.tell("stand")
        courier._thread.join(0.01)
    finally:
        threading.excepthook = hook
    while not delivered:
        courier._thread.join(0.01)
    assert delivered == ["stand"]


def test_what_is_told_within_the_pause_after_a_word_is_passed_over_unless_it_is_urgent() -> None:
    now, carried = [0.0], queue.SimpleQueue[int]()
    courier = Courier(carried.put, pause=1.0, clock=lambda: now[0])
    courier.tell(1)
    assert carried.get(timeout=10) == 1
    now[0] = 0.9
    courier.tell(2)
    now[0] = 1.0
    courier.tell(3)
    assert carried.get(timeout=10) == 3
    courier.tell(4)
    courier.hurry()
    courier.tell(5)
    assert carried.get(timeout=10) == 5
