"""A process whose clock is wrong: a C library of our own stands before the system's."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).with_name("clock.c")


def compile_clock(folder: Path) -> Path:
    """The library; raises ``subprocess.CalledProcessError`` without a C compiler."""
    library = folder / "clock.so"
    subprocess.run(("cc", "-O2", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"), check=True)
    return library


def environment_of(library: Path, off_s: int) -> dict[str, str]:
    """What a process needs in its environment for its clock to be off by so many seconds."""
    return {"LD_PRELOAD": str(library), "CLOCK_OFF_S": str(off_s)}


def told_off_s(environment: dict[str, str]) -> float:
    """By how many seconds a Python that is started so is really off."""
    program = "import datetime; print(datetime.datetime.now(datetime.UTC).timestamp())"
    command = (sys.executable, "-S", "-c", program)
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    return float(said) - time.time()
