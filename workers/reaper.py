"""The reaper: a small process that ends a worker's engines after the worker has ended.

An engine must not survive its worker, even if the worker is killed. The worker registers every
engine's scratch folder, control groups and process group with its reaper through a pipe; the folder
is registered before the engine starts. When the pipe closes, the reaper kills and removes everything
that is still registered. A worker that is killed while it starts an engine has not yet registered
the process group; the reaper then finds the engine by its ``HOME``, which is the scratch folder. So it
also finds children of an engine that have left its process group.
Run as a program, this file is the reaper process.
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
from collections.abc import Callable, Iterable, Iterator, Sequence, Set

NO_GROUP = 0
"""Stands for a process group that has not been started yet."""
BUNCH_MS = 50
"""The longest time a line stays unread in the pipe; the reaper sees at once that the pipe closes."""
NAME = b"duarena-reaper"
"""The name that ``ps`` and ``killall`` use, so that ``killall python3`` does not end the reaper."""
LOOKS = (0.0, 0.01, 0.05, 0.2, 0.5)
"""Pauses in seconds before each search for engines without a registered group, which may be starting."""
_MARKS = (b"HOME=", b"TMPDIR=")
PAUSE_SECONDS = 0.005
END_SECONDS = 2.0
"""The time limit for killed processes to disappear."""
GROUP_END_SECONDS = 10.0
"""The same for all processes of a control group, which remains if one does not disappear in this time."""


class Reaper:
    """The worker's end of the pipe. The reaper process starts with the first ``watch``.

    Each worker process has its own reaper: after a fork the child starts another.
    """

    def __init__(self) -> None:
        self._watched: dict[str, bytes] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def watch(self, folder: str, group: int = NO_GROUP, control_groups: Sequence[str] = ()) -> None:
        """Register ``folder`` and groups: if this process ends, the reaper removes and kills them.

        ``control_groups`` are folders of control group hierarchies, which are removed as well. Call it
        again for a folder when its process group is known.
        """
        if self._owner != os.getpid():
            self._restart()
        line = _line(b"+", group, folder, control_groups)
        self._watched[folder] = line
        self._send(line)

    def forget(self, folder: str) -> None:
        """Unregister a folder and its groups. Does nothing if it is not registered."""
        if self._watched.pop(folder, None) is not None:
            self._send(_line(b"-", NO_GROUP, folder))

    @property
    def pid(self) -> int | None:
        """The reaper process of this process; None if there is none."""
        return None if self._process is None or self._owner != os.getpid() else self._process.pid

    def close(self) -> None:
        """End the reaper, which kills and removes everything that is still registered."""
        process, self._process, self._owner = self._process, None, 0
        self._watched.clear()
        if process is not None and process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            process.wait()

    def _restart(self) -> None:
        """Close the pipe end inherited from a fork, if any, and start a reaper for this process only."""
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

    def _send(self, line: bytes) -> None:
        """Send a line. A reaper that was killed is replaced, and everything registered is sent again."""
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
    """Read a worker's lines until they end, then kill and remove what is still registered."""
    watched: dict[str, tuple[int, list[str]]] = {}
    for line in lines:
        sign, group, places = line.split(b" ", 2)
        folder, *control_groups = map(os.fsdecode, places.split(b"\0"))
        if sign == b"+":
            watched[folder] = int(group), control_groups
        else:
            watched.pop(folder, None)
    for number, control_groups in watched.values():
        if number != NO_GROUP:
            _kill_process_group(number)
        end_group(control_groups)
    end_marked(watched)
    for path in watched:
        remove_scratch(path)
    _end_starting([path for path, (number, _) in watched.items() if number == NO_GROUP])


def _end_starting(folders: Sequence[str]) -> None:
    """Kill engines whose process group was not registered; their ``HOME`` is one of these folders."""
    for pause in LOOKS if folders else ():
        time.sleep(pause)
        end_marked(folders)
    for folder in folders:
        remove_scratch(folder)


def end_marked(folders: Iterable[str], among: Callable[[], Iterable[int]] | None = None) -> None:
    """Kill the processes that were started for one of these folders, also outside of any process group.

    They are recognized by their environment: ``HOME`` or ``TMPDIR`` is such a folder or below it. ``among``
    returns the processes to look at; None looks at all. Repeated until none is found, because a child of a
    killed process may have started another one.
    """
    homes = {os.fsencode(folder) for folder in folders}
    until = time.monotonic() + END_SECONDS
    while homes and time.monotonic() < until:
        processes = _all_processes() if among is None else among()
        found = [process for process in processes if _is_marked(process, homes)]
        for process in found:
            _kill_process_group(process)
        signal_all(found, signal.SIGKILL)
        if not found:
            return
        time.sleep(PAUSE_SECONDS)


def _all_processes() -> Iterator[int]:
    own = os.getpid()
    return (process for process in map(int, filter(str.isdigit, os.listdir("/proc"))) if process != own)


def _is_marked(process: int, homes: Set[bytes]) -> bool:
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            variables = file.read().split(b"\0")
    except OSError:
        return False  # it has ended, or is another user's
    for variable in variables:
        if variable.startswith(_MARKS):
            folder = variable.partition(b"=")[2]
            while len(folder) > 1:
                if folder in homes:
                    return True
                folder = os.path.dirname(folder)
    return False


def signal_all(processes: Iterable[int], number: int) -> None:
    """Send a signal to each process that has not ended and that this user may signal."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def _kill_process_group(number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(number, signal.SIGKILL)


def end_group(folders: Sequence[str]) -> None:
    """Kill all processes of a control group and of the groups in it, and remove them all.

    ``folders`` has one folder per hierarchy. Missing folders are ignored.
    """
    until = time.monotonic() + GROUP_END_SECONDS
    for pause in (0.0, 0.0, 0.001, *[0.01] * 10_000):
        time.sleep(pause)
        kill_group(folders)
        left = [folder for folder in folders if not _is_removed(folder)]
        if not left or time.monotonic() > until:
            return


def kill_group(folders: Sequence[str]) -> None:
    """Kill all processes of a control group and the groups in it, by ``cgroup.kill`` where the kernel has it.

    Elsewhere the groups are frozen first, so that no process starts another during the kill. A frozen
    process ends when it is thawed, without running again.
    """
    for folder in folders:
        if _written(folder, "cgroup.kill", b"1"):
            return
    whole = [group for folder in folders for group in (folder, *_groups_below(folder))]
    for group in whole:
        _written(group, "freezer.state", b"FROZEN")
    for group in whole:
        signal_all(_members(group), signal.SIGKILL)
    for group in whole:
        _written(group, "freezer.state", b"THAWED")


def _groups_below(folder: str) -> list[str]:
    """The control groups in a control group, each after the one that it is in."""
    found, waiting = [], [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                inner = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue  # it has been removed
        found += inner
        waiting += inner
    return found


def _written(folder: str, name: str, word: bytes) -> bool:
    """Whether the kernel took the word; it refuses it for a group that has just been removed."""
    try:
        descriptor = os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        os.write(descriptor, word)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _members(folder: str) -> list[int]:
    try:
        with open(os.path.join(folder, "cgroup.procs")) as file:
            # 0 is a process outside this process's namespace; os.kill(0) would signal our own group.
            return [number for line in file if (number := int(line)) > 0]
    except OSError:
        return []


def _is_removed(folder: str) -> bool:
    """Remove a control group and those in it; False if a process in one has not ended yet."""
    for group in (*reversed(_groups_below(folder)), folder):
        with contextlib.suppress(OSError):
            os.rmdir(group)
    return not os.path.exists(folder)


def remove_scratch(path: str) -> None:
    """Remove a folder, even if an engine nested it too deep for Python or removed its permissions."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(path, ignore_errors=True)
    if os.path.islink(path):
        os.unlink(path)
    elif os.path.lexists(path):
        for command in (("chmod", "-R", "u+rwx"), ("rm", "-rf")):
            subprocess.run((*command, "--", path), stderr=subprocess.DEVNULL, check=False)


def _lines_of(pipe: int) -> Iterator[bytes]:
    """The lines of a pipe until it closes, read in groups: waking for each line slows the games."""
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
