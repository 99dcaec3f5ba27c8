"""The thread that samples engines, in a process that forks."""

from __future__ import annotations

import os
import threading

from workers.sandbox.sampler import Sampler


def test_a_fork_waits_for_a_running_check_so_that_the_child_can_begin_its_own() -> None:
    sampler, held = Sampler(), threading.Event()

    def check() -> None:
        with sampler._lock:
            held.set()
            threading.Event().wait(0.05)

    thread = threading.Thread(target=check)
    thread.start()
    held.wait()
    child = os.fork()
    if not child:
        os._exit(not sampler._lock.acquire(blocking=False))
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
