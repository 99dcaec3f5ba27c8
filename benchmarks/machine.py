"""Describes the machine of a measurement, for the head of a table."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from collections.abc import Iterator
from pathlib import Path

from engines.bench import describe_form

CPU_INFO = Path("/proc/cpuinfo")


def describe_machine() -> Iterator[str]:
    """The processor, the system, versions and the load, one a line."""
    system = f"{platform.system()} {platform.release()}"
    yield f"- {len(os.sched_getaffinity(0))} cores of {_processor()}, {system}"
    yield f"- rules {describe_form()}; {_compiler()}"
    now = datetime.datetime.now(datetime.UTC)
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    yield f"- {now:%d %B %Y %H:%M} UTC; load {load} (1, 5 and 15 minutes) when it began"


def _processor() -> str:
    models = [line for line in CPU_INFO.read_text().splitlines() if line.startswith("model name")]
    return models[0].partition(":")[2].strip() if models else platform.machine()


def _compiler() -> str:
    return subprocess.run(
        ("cc", "--version"), check=True, capture_output=True, text=True
    ).stdout.splitlines()[0]
