"""A guard process between the supervisor and one of its processes, so that no process is ever left running.

Run as a script, on the standard library alone: ``guard.py COMMAND...``. It starts the command and reads its
standard input, a pipe whose other end the supervisor holds. A byte in it is a signal number to send to the
command. End of file (the supervisor closed its end, or was killed) kills the command. When the command has
ended, the guard kills all its descendants, at any depth and in any process group; only the reapers of workers
end by themselves. It runs until no descendant is left, and exits as the command did (128 + n after signal n).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
"""``<linux/prctl.h>``: orphans below this process become its children, not those of process 1."""
REAPER = "duarena-reaper"
"""The name of the process that removes what a killed worker leaves: see ``workers.reaper``."""
REAPER_SECONDS = 10.0
"""How long it may take on a busy machine; it usually needs some milliseconds."""
PAUSE_SECONDS = 0.01


def main(command: list[str]) -> int:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        # The guard does not end by a signal. Ignored signals would stay ignored in the command.
        signal.signal(number, lambda *_: None)
    control = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        child = _start(command)
    except OSError as error:
        print(f"cannot start {command[0]!r}: {error.strerror}", file=sys.stderr)
        return 127
    threading.Thread(target=_obey, args=(control, child), daemon=True).start()
    while (ended := os.wait())[0] != child:
        pass
    _kill_descendants()
    code = os.waitstatus_to_exitcode(ended[1])
    return code if code >= 0 else 128 - code


def _start(command: list[str]) -> int:
    """Start the command in the guard's process group; with util-linux installed it dies with the guard.

    Python itself ignores SIGPIPE and SIGXFSZ; the command must not inherit that.
    """
    if setpriv := shutil.which("setpriv"):
        command = [setpriv, "--pdeathsig", "KILL", "--", *command]
    default = [signal.SIGPIPE, signal.SIGXFSZ]
    return os.posix_spawnp(command[0], command, os.environ, setsigdef=default)


def _obey(control: int, child: int) -> None:
    """Send the command the signals that the supervisor names, and SIGKILL when it closes the pipe."""
    with contextlib.suppress(ProcessLookupError):
        while number := os.read(control, 1):
            os.kill(child, number[0])
        os.kill(child, signal.SIGKILL)


def _kill_descendants() -> None:
    """Kill and reap children until there is none: those of a killed one become ours, so none is missed.

    The reapers of killed workers get time to end by themselves: they remove the engines' control groups and
    folders.
    """
    until = time.monotonic() + REAPER_SECONDS
    while True:
        for listed in Path("/proc/self/task").glob("*/children"):
            for child in listed.read_text().split():
                if time.monotonic() > until or not _is_reaper(child):
                    os.kill(int(child), signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(PAUSE_SECONDS)


def _is_reaper(process: str) -> bool:
    return Path(f"/proc/{process}/comm").read_text(errors="replace").rstrip() == REAPER


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
