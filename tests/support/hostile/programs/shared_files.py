"""Hidden messages through files and devices that both engines see; ``number`` is as in ``channels``."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import select
import struct
import time
from collections.abc import Iterable, Iterator
from typing import Any

from .limits import libc

BITS = 16
IN_OPEN = 0x20
F_GET_RW_HINT = 1035
F_SET_RW_HINT = 1036
HINT = 5
FAR = 128 * 1024
"""The offset to read in a file, beyond what the kernel reads ahead from its beginning."""
EVICTIONS = 3
"""How often pages are dropped: a page just read does not always leave memory at the first try."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
MAX_TRIES = 10
DIGIT_BITS = 3
DIGIT_NS = 25_000_000
"""The unit of the time between two devices, which encodes a digit; coarse clocks tick every 10 ms."""

kept: list[Any] = []


def send_in_files(facts: dict[str, Any]) -> None:
    for folder in ("/tmp", "/dev/shm", "/var/tmp"):
        with contextlib.suppress(OSError), open(f"{folder}/duarena-hostile", "w") as file:
            file.write(str(facts["number"]))


def receive_in_files(_: dict[str, Any]) -> int | None:
    for folder in ("/tmp", "/dev/shm", "/var/tmp"):
        with contextlib.suppress(OSError), open(f"{folder}/duarena-hostile") as file:
            return int(file.read())
    return None


def send_by_whole_locks(facts: dict[str, Any]) -> None:
    for descriptor, bit in zip(_shared_files(), _bits(facts["number"]), strict=False):
        if bit:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def receive_by_whole_locks(_: dict[str, Any]) -> int:
    return _number(_refuses(descriptor) for descriptor in _shared_files())


def send_by_record_locks(facts: dict[str, Any]) -> None:
    for descriptor, bit in zip(_shared_files(), _bits(facts["number"]), strict=False):
        if bit:
            fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)


def receive_by_record_locks(_: dict[str, Any]) -> int:
    return _number(_is_read_locked(descriptor) for descriptor in _shared_files())


def wait_for_openings(_: dict[str, Any]) -> None:
    """Watch the files that the sender is going to open."""
    watcher = libc.inotify_init()
    kept.append(watcher)
    kept.append([libc.inotify_add_watch(watcher, path.encode(), IN_OPEN) for path in _shared_paths()])


def send_by_openings(facts: dict[str, Any]) -> None:
    for path, bit in zip(_shared_paths(), _bits(facts["number"]), strict=False):
        if bit:
            open(path, "rb").close()


def receive_by_openings(_: dict[str, Any]) -> int:
    watcher, watches = kept
    events = os.read(watcher, 65536) if select.select([watcher], [], [], 0)[0] else b""
    opened = {struct.unpack_from("i", events, at)[0] for at in range(0, len(events), 16)}
    return _number(watch in opened for watch in watches)


def send_by_hints(facts: dict[str, Any]) -> None:
    """Encode the bits as write lifetime hints, which the kernel keeps with a file."""
    for descriptor, bit in zip(_shared_files(), _bits(facts["number"]), strict=False):
        fcntl.fcntl(descriptor, F_SET_RW_HINT, struct.pack("Q", HINT if bit else 0))


def receive_by_hints(_: dict[str, Any]) -> int:
    hints = (fcntl.fcntl(descriptor, F_GET_RW_HINT, bytes(8)) for descriptor in _shared_files())
    return _number(hint == struct.pack("Q", HINT) for hint in hints)


def send_by_times(facts: dict[str, Any]) -> None:
    """Encode the digits in the modification times of devices, which every user may set.

    Sleeps are too long on a busy machine, so it reads the number back and tries again if it is wrong.
    """
    for _ in range(MAX_TRIES):
        before = os.stat(DEVICES[0]).st_mtime_ns
        os.utime(DEVICES[0])
        if os.stat(DEVICES[0]).st_mtime_ns == before:
            return
        for place, device in enumerate(DEVICES[1:]):
            digit = (facts["number"] >> DIGIT_BITS * place) % 2**DIGIT_BITS
            time.sleep((digit + 1) * DIGIT_NS / 1e9)
            os.utime(device)
        if receive_by_times(facts) == facts["number"]:
            return


def receive_by_times(_: dict[str, Any]) -> int:
    times = [os.stat(device).st_mtime_ns for device in DEVICES]
    digits = [round((after - before) / DIGIT_NS) - 1 for before, after in itertools.pairwise(times)]
    return sum(digit << DIGIT_BITS * place for place, digit in enumerate(digits))


def send_in_the_page_cache(facts: dict[str, Any]) -> None:
    """Encode the bits by which files are in the page cache: it drops some and reads others."""
    files = _large_files()
    for descriptor, bit in zip(files * EVICTIONS, list(_bits(facts["number"])) * EVICTIONS, strict=True):
        if bit:
            os.pread(descriptor, 1, FAR)
        else:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def receive_in_the_page_cache(_: dict[str, Any]) -> int:
    return _number(map(_is_in_memory, _large_files()))


def _shared_paths() -> list[str]:
    """Files that both engines see."""
    paths = (os.path.join("/usr/bin", name) for name in sorted(os.listdir("/usr/bin")))
    return [path for path in paths if os.path.isfile(path) and not os.path.islink(path)][:BITS]


def _shared_files() -> list[int]:
    descriptors = [os.open(path, os.O_RDONLY) for path in _shared_paths()]
    kept.append(descriptors)
    return descriptors


def _large_files() -> list[int]:
    """Large files that both engines see and that are not run, opened without read-ahead."""
    files = (os.path.join(place, name) for place, _, names in os.walk("/usr/share") for name in names)
    own = (path for path in files if os.path.isfile(path) and not os.path.islink(path))
    large = (path for path in own if os.path.getsize(path) > 2 * FAR)
    opened = [os.open(path, os.O_RDONLY) for path in itertools.islice(large, BITS)]
    for descriptor in opened:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
    kept.append(opened)
    return opened


def _is_in_memory(descriptor: int) -> bool:
    try:
        return os.preadv(descriptor, [bytearray(1)], FAR, os.RWF_NOWAIT) == 1
    except BlockingIOError:
        return False


def _bits(number: int) -> Iterator[bool]:
    return (bool(number >> at & 1) for at in range(BITS))


def _number(bits: Iterable[bool]) -> int:
    return sum(bit << at for at, bit in enumerate(bits))


def _refuses(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return False


def _is_read_locked(descriptor: int) -> bool:
    asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
    return bool(struct.unpack("hhqqi4x", fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))[0] == fcntl.F_RDLCK)
