"""Calls of services at the same time, each with a database connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from django.db import connections


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Run all in threads that start together; what they returned, or raised."""
    gate, results = threading.Barrier(len(calls)), []

    def run(call: Callable[[], Any]) -> None:
        gate.wait()
        try:
            results.append(call())
        except Exception as error:
            results.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
