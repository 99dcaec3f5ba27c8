"""The reaper: a small process that outlives a worker just long enough to end its engines.

An engine must not survive its worker, not even one that was killed outright.
The worker tells its reaper of every engine's scratch folder, control groups and
process group through a pipe, of the folder before the engine starts; when the
pipe closes, whatever the worker has not taken back is killed and removed. A
worker killed while it was starting an engine has not told of the group: that
engine is known by its home, the folder. Run as a program, this file is the
reaper itself.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence

NO_GROUP = 0
"""In place of the number of a group that has not been started yet."""
BUNCH_MS = 50
"""How long what is watched may go unread; that the pipe closes is seen at once."""
NAME = b"duarena-reaper"
"""What ``ps`` and ``killall`` call it: whoever ends all Python programs by their name spares this one."""
LOOKS = (0.0, 0.01, 0.05, 0.2, 0.5)
"""Pauses in seconds before looking for engines whose group was not told: they may be about to begin."""
END_SECONDS = 2.0
"""For what was killed to be gone."""


class Reaper:
    """The worker's end of the pipe; the process is started when there is something to watch.

    One for each worker process: after a fork the child starts its own.
    """

    def __init__(self) -> None:
        self._watched: dict[str, bytes] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def watch(self, folder: str, group: int = NO_GROUP, control_groups: Sequence[str] = ()) -> None:
        """From now on ``folder`` is removed, and both groups killed, should this process vanish.

        ``control_groups`` are folders of hierarchies, removed as well. May be repeated for a
        folder, when its group is known.
        """
        if self._owner != os.getpid():
            self._start_anew()
        line = _line(b"+", group, folder, control_groups)
        self._watched[folder] = line
        self._tell(line)

    def forget(self, folder: str) -> None:
        """The folder is gone, and the group with it. Nothing if it is not watched."""
        if self._watched.pop(folder, None) is not None:
            self._tell(_line(b"-", NO_GROUP, folder))

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
            self._process.stdin.write(b"".join(self._watched.values()))


def _line(sign: bytes, group: int, folder: str, control_groups: Sequence[str] = ()) -> bytes:
    return b"%s %d %s\n" % (sign, group, b"\0".join(map(os.fsencode, (folder, *control_groups))))


def reap(lines: Iterable[bytes]) -> None:
    """Follow a worker's lines until they end, then kill the groups that are left."""
    watched: dict[str, tuple[int, list[str]]] = {}
    for line in lines:
        sign, group, places = line.split(b" ", 2)
        folder, *control_groups = map(os.fsdecode, places.split(b"\0"))
        if sign == b"+":
            watched[folder] = int(group), control_groups
        else:
            watched.pop(folder, None)
    for path, (number, control_groups) in watched.items():
        if number != NO_GROUP:
            _kill_process_group(number)
        end_group(control_groups)
        remove_scratch(path)
    _end_starting([path for path, (number, _) in watched.items() if number == NO_GROUP])


def _end_starting(folders: Sequence[str]) -> None:
    """Kill engines whose groups were never told, should there be any: their homes are these folders."""
    homes = {b"HOME=" + os.fsencode(folder): folder for folder in folders}
    for pause in LOOKS if homes else ():
        time.sleep(pause)
        for name in filter(str.isdigit, os.listdir("/proc")):
            for home in homes.keys() & _environment_of(name):
                _kill_process_group(int(name))
                remove_scratch(homes[home])


def _environment_of(process: str) -> set[bytes]:
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            return set(file.read().split(b"\0"))
    except OSError:
        return set()


def _kill_process_group(number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(number, signal.SIGKILL)


def end_group(folders: Sequence[str]) -> None:
    """Kill all that is in a control group and remove it; ``folders`` are its places in the hierarchies."""
    until = time.monotonic() + END_SECONDS
    for pause in (0.0, 0.0, 0.001, *[0.01] * 1000):
        time.sleep(pause)
        kill_group(folders)
        left = [folder for folder in folders if not _is_removed(folder)]
        if not left or time.monotonic() > until:
            return


def kill_group(folders: Sequence[str]) -> None:
    """All at once where the kernel can; else frozen first, so that none starts another meanwhile.

    What is frozen dies when it thaws, without having run.
    """
    for folder in folders:
        if _written(folder, "cgroup.kill", b"1"):
            return
    for folder in folders:
        _written(folder, "freezer.state", b"FROZEN")
    for folder in folders:
        for process in _members(folder):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
    for folder in folders:
        _written(folder, "freezer.state", b"THAWED")


def _written(folder: str, name: str, word: bytes) -> bool:
    try:
        descriptor = os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        os.write(descriptor, word)
    finally:
        os.close(descriptor)
    return True


def _members(folder: str) -> list[int]:
    try:
        with open(os.path.join(folder, "cgroup.procs")) as file:
            # 0 is one that this process's namespace does not know; to kill() it is our own group.
            return [number for line in file if (number := int(line)) > 0]
    except OSError:
        return []


def _is_removed(folder: str) -> bool:
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False  # what is in it has not ended yet
    return True


def remove_scratch(path: str) -> None:
    """Remove a folder whatever an engine made of it: nested too deep for Python, or closed to its owner."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(path, ignore_errors=True)
    if os.path.islink(path):
        os.unlink(path)
    elif os.path.lexists(path):
        for command in (("chmod", "-R", "u+rwx"), ("rm", "-rf")):
            subprocess.run((*command, "--", path), stderr=subprocess.DEVNULL, check=False)


def _lines_of(pipe: int) -> Iterator[bytes]:
    """The lines in a pipe until it is closed, read in bunches: to wake for each costs the games time."""
    closing = select.poll()
    closing.register(pipe, 0)
    unfinished = b""
    while chunk := os.read(pipe, 64 * 1024):
        *lines, unfinished = (unfinished + chunk).split(b"\n")
        yield from lines
        closing.poll(BUNCH_MS)


def _main(pipe: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _written("/proc/self", "comm", NAME)
    reap(_lines_of(pipe))


if __name__ == "__main__":
    _main(sys.stdin.fileno())
