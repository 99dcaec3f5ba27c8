"""The reaper: a small process that outlives a worker just long enough to end its engines.

An engine must not survive its worker, not even one that was killed outright.
The worker tells its reaper of every engine's scratch folder and process group
through a pipe, of the folder before the engine starts; when the pipe closes,
whatever the worker has not taken back is killed and removed. Run as a program,
this file is the reaper itself.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from typing import BinaryIO

NO_GROUP = 0
"""In place of the number of a group that has not been started yet."""


class Reaper:
    """The worker's end of the pipe; the process is started when there is something to watch.

    One for each worker process: after a fork the child starts its own.
    """

    def __init__(self) -> None:
        self._watched: dict[str, int] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def watch(self, folder: str, group: int = NO_GROUP) -> None:
        """From now on ``folder`` is removed, and ``group`` killed, should this process vanish.

        May be repeated for a folder, when its group is known.
        """
        if self._owner != os.getpid():
            self._start_anew()
        self._watched[folder] = group
        self._tell(_line(b"+", group, folder))

    def forget(self, folder: str) -> None:
        """The folder is gone, and the group with it. Nothing if it is not watched."""
        if (group := self._watched.pop(folder, None)) is not None:
            self._tell(_line(b"-", group, folder))

    def close(self) -> None:
        """End the reaper, and with it whatever is still watched."""
        process, self._process, self._owner = self._process, None, 0
        self._watched.clear()
        if process is not None and process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            process.wait()

    def _start_anew(self) -> None:
        """Leave a fork's inherited end alone but for closing it, and watch for this process only."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
        self._watched = {}
        self._owner = os.getpid()
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd="/",
            env={},
            start_new_session=True,
        )

    def _tell(self, line: bytes) -> None:
        """Pass a line on; a reaper that somebody killed is replaced and told of all that is watched."""
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line)
        except BrokenPipeError:
            self._process.wait()
            self._process.stdin.close()
            self._start()
            assert self._process.stdin is not None
            known = [_line(b"+", group, folder) for folder, group in self._watched.items()]
            self._process.stdin.write(b"".join(known))


def _line(sign: bytes, group: int, folder: str) -> bytes:
    return b"%s %d %s\n" % (sign, group, os.fsencode(folder))


def reap(lines: Iterable[bytes]) -> None:
    """Follow a worker's lines until they end, then kill the groups that are left."""
    watched: dict[str, int] = {}
    for line in lines:
        sign, group, folder = line.rstrip(b"\n").split(b" ", 2)
        if sign == b"+":
            watched[os.fsdecode(folder)] = int(group)
        else:
            watched.pop(os.fsdecode(folder), None)
    for path, number in watched.items():
        if number != NO_GROUP:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(number, signal.SIGKILL)
        remove_scratch(path)


def remove_scratch(path: str) -> None:
    """Remove a folder whatever an engine made of it: nested too deep for Python, or closed to its owner."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(path, ignore_errors=True)
    if os.path.islink(path):
        os.unlink(path)
    elif os.path.lexists(path):
        for command in (("chmod", "-R", "u+rwx"), ("rm", "-rf")):
            subprocess.run((*command, "--", path), stderr=subprocess.DEVNULL, check=False)


def _main(stdin: BinaryIO) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    reap(stdin)


if __name__ == "__main__":
    _main(sys.stdin.buffer)
