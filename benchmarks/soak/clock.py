"""Makes the clock of a process wrong by a preloaded C library."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).with_name("clock.c")


def compile_clock(folder: Path) -> Path:
    """Compile the library; raises ``subprocess.CalledProcessError`` without a C compiler."""
    library = folder / "clock.so"
    subprocess.run(("cc", "-O2", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"), check=True)
    return library


def environment_of(library: Path, off_s: int) -> dict[str, str]:
    """The environment variables that make a process's clock wrong by ``off_s`` seconds."""
    return {"LD_PRELOAD": str(library), "CLOCK_OFF_S": str(off_s)}


def measure_offset_s(environment: dict[str, str]) -> float:
    """The seconds by which the clock of a Python process with this environment is wrong."""
    program = "import datetime; print(datetime.datetime.now(datetime.UTC).timestamp())"
    command = (sys.executable, "-S", "-c", program)
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    return float(output) - time.time()
