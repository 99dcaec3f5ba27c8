"""A guard process between the supervisor and one of its processes, so that no process is ever left running.

Run as a script, on the standard library alone: ``guard.py FD COMMAND...``. It
starts the command and reads FD, a pipe whose other end the supervisor holds. A
byte in it is a signal number to send to the command. End of file (the supervisor
closed its end, or was killed) means: kill the command and all its descendants, at any
depth and in any process group; only the reapers of workers end by themselves. The guard
runs until no descendant is alive, and exits as the command did (128 + n after signal n).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import shutil
import signal
import sys
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
"""``<linux/prctl.h>``: orphans below this process become its children, not those of process 1."""

REAPER = b"duarena-reaper"
"""The name of the process that removes what a killed worker leaves: see ``workers.reaper``."""
REAPER_SECONDS = 10.0
"""How long it may take on a busy machine; it usually needs some milliseconds."""
PAUSE_SECONDS = 0.01


def main(control: int, command: list[str]) -> int:
    _adopt_orphans()
    os.set_inheritable(control, False)
    wakeup = _wake_up_on_signals()
    try:
        child = _start(command)
    except OSError as error:
        print(f"cannot start {command[0]!r}: {error.strerror}", file=sys.stderr)
        return 127
    status = _watch(child, control, wakeup)
    _kill_everything()
    code = os.waitstatus_to_exitcode(status) if status is not None else -signal.SIGKILL
    return code if code >= 0 else 128 - code


def _adopt_orphans() -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _wake_up_on_signals() -> int:
    """A descriptor that becomes readable at each signal.

    Handlers, because ignored signals would stay ignored in the command. They do not end the guard,
    which ends only when its command or its supervisor does.
    """
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading


def _start(command: list[str]) -> int:
    """Start the command in a process group of its own; with util-linux installed it dies with the guard.

    Python itself ignores SIGPIPE and SIGXFSZ; the command must not inherit that.
    """
    if setpriv := shutil.which("setpriv"):
        command = [setpriv, "--pdeathsig", "KILL", "--", *command]
    return os.posix_spawnp(
        command[0], command, os.environ, setpgroup=0, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ]
    )


def _watch(child: int, control: int, wakeup: int) -> int | None:
    """The command's wait status once it has ended; None when the supervisor closed the pipe."""
    while True:
        ready, _, _ = select.select([control, wakeup], [], [])
        if wakeup in ready:
            os.read(wakeup, 4096)
            for process, status in _reaped():
                if process == child:
                    return status
        if control in ready:
            received = os.read(control, 64)
            if not received:
                return None
            for number in received:
                os.kill(child, number)


def _reaped() -> list[tuple[int, int]]:
    ended: list[tuple[int, int]] = []
    while True:
        try:
            process, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if process == 0:
            return ended
        ended.append((process, status))


def _kill_everything() -> None:
    """Kill and reap until no descendant is left: orphans become our children, so none is missed.

    The reapers of killed workers get time to end by themselves: they remove the engines' control groups and
    folders.
    """
    until = time.monotonic() + REAPER_SECONDS
    while True:
        is_late = time.monotonic() > until
        for process in descendants(os.getpid()):
            if is_late or not _is_reaper(process):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(PAUSE_SECONDS)


def _is_reaper(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/comm").read_bytes().rstrip() == REAPER
    except OSError:
        return False


def descendants(ancestor: int) -> list[int]:
    """The current descendants of a process, read from /proc, without zombies.

    It repeats ``workers.sandbox.tree.descendants``, because the guard runs alone as a script and can import
    none of our packages.
    """
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (parent := _living_parent(entry)) is not None:
            children.setdefault(parent, []).append(int(entry.name))
    found: list[int] = []
    todo = [ancestor]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def _living_parent(entry: Path) -> int | None:
    """The parent of a process; None if it has ended. Its name may hold spaces and parentheses."""
    try:
        state, parent = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
    except OSError:
        return None
    return None if state in "ZX" else int(parent)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
