"""What each process of the server does before it answers requests."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

import django
from django.conf import settings

from tournament.http.limits import OPEN_FILES
from workers.watchdog import end_with_parent, rearm

NICENESS = 10
"""The pages step back behind the engines, which have 5 and whose clocks run: a flood of requests takes a
quarter of a core from an engine, and not three quarters.
"""
GROUP_NICENESS = 7
"""The same where the kernel gives each session its share of a core (``sched(7)``, autogroups): there the
niceness of a process counts only within its session. With 5 a flood of forms delayed games by a third of a
core more, with 10 the home page took 0.9 seconds under it.
"""
AUTOGROUP = Path("/proc/self/autogroup")
SWITCH_SECONDS = 0.001
"""How long a thread that computes keeps the others waiting. With Python's five milliseconds, which a busy
processor makes longer, a page under a flood waits for other threads for most of its time.
"""
HANGS_SECONDS = 30
"""A process whose event loop hangs for so long writes where it hangs, and ends."""


def make_application() -> Any:
    """The application of this process; called by uvicorn in each."""
    end_with_parent()
    _step_back()
    sys.setswitchinterval(SWITCH_SECONDS)
    _raise_file_limit()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tournament.settings")
    django.setup(set_prefix=False)
    application = importlib.import_module("tournament.http.application").Application()
    importlib.import_module("tournament.services.work.leases").start_door_clock()
    importlib.import_module(settings.ROOT_URLCONF)  # with all views, before the next line
    _end_streams_first(application.streams)
    gc.freeze()  # the collector skips existing objects: going through them all takes as long as a page
    return application


async def show_life() -> None:
    """Called by uvicorn from the event loop every few seconds."""
    rearm(HANGS_SECONDS)


def _end_streams_first(streams: Any) -> None:
    """End the streams of events when the process is told to end: uvicorn would wait for them."""
    loop = asyncio.get_running_loop()
    ends = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def end_streams(number: int, frame: Any) -> None:
        loop.call_soon_threadsafe(streams.stop)
        if callable(end := ends[signal.Signals(number)]):
            end(number, frame)

    for number in ends:
        signal.signal(number, end_streams)


def _step_back() -> None:
    """Lower the priority of this process, and of its session where that is what counts."""
    os.nice(NICENESS)
    with contextlib.suppress(OSError):  # another process of the session did it just now, or there are none
        AUTOGROUP.write_text(str(GROUP_NICENESS))


def _raise_file_limit() -> None:
    """Allow this process more open files, if the system does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < OPEN_FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(OPEN_FILES, hard), hard))
