"""``python -m workers watch COMMAND``: runs a part of a site, and ends it when it hangs.

For containers and service managers, which restart what ends, but not what hangs.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from engines.console import complain
from workers.silence import PULSE, Silence, Touched

PAUSE_S = 0.5


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code of the command, 128 + n after signal n, or 2 if it hung and was killed."""
    parser = argparse.ArgumentParser(
        prog="python3 -m workers watch",
        description="Run a part of a site, and end it when it shows no sign of life.",
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the command with its arguments")
    command = [
        word for number, word in enumerate(parser.parse_args(arguments).command) if number or word != "--"
    ]
    if not command:
        parser.error("there is no command to run")
    with tempfile.TemporaryDirectory(prefix="duarena-watch-") as folder:
        return _run(command, Path(folder) / "pulse")


def name_of(command: Sequence[str]) -> str:
    """The program with its first words, without options: their values may be secret."""
    words = [word for word in command[1:] if not word.startswith("--") and len(word.split()) == 1]
    return " ".join([Path(command[0]).name, *words[:3]])


def _run(command: Sequence[str], pulse: Path) -> int:
    process = subprocess.Popen(command, env={**os.environ, PULSE: str(pulse)})
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: process.send_signal(number))
    silence = Silence(Touched(pulse))
    while process.poll() is None:
        silence.check(time.monotonic())
        if silence.is_too_long:
            process.kill()
            process.wait()
            return complain(
                f"{name_of(command)} has not responded for {silence.seconds:.0f} s and was killed"
            )
        time.sleep(PAUSE_S)
    return process.returncode if process.returncode >= 0 else 128 - process.returncode
