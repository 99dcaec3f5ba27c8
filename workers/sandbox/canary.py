"""An engine that tries to get out. Run inside the sandbox by the probe; standard library alone.

    canary.py try JSON     says which walls held, a JSON object of truth values
    canary.py eat BYTES    takes this much memory and says so, unless it is ended first

It harms nothing should a wall be missing: it looks, asks and takes back what it took.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import resource
import signal
import socket
import sys
import time

CHUNK = 8 * 1024 * 1024
CONNECT_SECONDS = 2
AF_VSOCK = 40
CLONE_NEWUSER = 0x10000000
PTRACE_TRACEME = 0


def secret(facts: dict[str, str]) -> bool:
    """A file of the worker cannot be read, nor its folder be seen."""
    return not os.path.exists(facts["secret"]) and not os.path.exists(os.path.dirname(facts["secret"]))


def network(facts: dict[str, str]) -> bool:
    """Nobody listens on the loopback and under a name without a file, where listeners of the worker do.

    The filter alone holds the first, the namespace alone the second.
    """
    return not (
        _is_reached(socket.AF_INET, ("127.0.0.1", int(facts["port"])))
        or _is_reached(socket.AF_UNIX, f"\0{facts['socket']}")
    )


def environment(facts: dict[str, str]) -> bool:
    """The worker's environment is nowhere to be read."""
    with open("/proc/1/environ", "rb") as file:
        return facts["word"].encode() not in file.read() and facts["word"] not in os.environ.values()


def processes(facts: dict[str, str]) -> bool:
    """No processes are to be seen but its own, and those the walls are made of."""
    seen = [name for name in os.listdir("/proc") if name.isdigit()]
    return len(seen) <= 3


def writing(facts: dict[str, str]) -> bool:
    """There is nothing to write to but /tmp and /dev/shm."""
    return not any(
        map(_is_writable, ("/canary", "/engine/canary", "/dev/canary", "/usr/canary", "/sdk/canary"))
    )


def privileges(facts: dict[str, str]) -> bool:
    """No capability, no way to a new one, and a system call filter."""
    with open("/proc/self/status") as file:
        lines = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    none = all(int(lines[name], 16) == 0 for name in ("CapPrm", "CapEff", "CapBnd"))
    return none and lines["NoNewPrivs"] == "1" and lines["Seccomp"] == "2" and os.getuid() != 0


def calls(facts: dict[str, str]) -> bool:
    """System calls of four kinds are refused: namespaces, tracing, locks, foreign sockets."""
    library = ctypes.CDLL(None, use_errno=True)
    refused = [_fails(library.unshare, CLONE_NEWUSER), _fails(library.ptrace, PTRACE_TRACEME, 0, 0, 0)]
    return all(refused) and _is_lock_refused() and _is_socket_refused()


def limits(facts: dict[str, str]) -> bool:
    """The resource limits are set, and cannot be raised."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1] == int(facts["open_files"]) and (
        resource.getrlimit(resource.RLIMIT_FSIZE)[1] == int(facts["file_size"])
    )


def forks(facts: dict[str, str]) -> bool:
    """No more processes than it may have."""
    allowed = int(facts["processes"])
    children: list[int] = []
    try:
        while len(children) <= allowed:
            child = os.fork()
            if child == 0:
                signal.alarm(CONNECT_SECONDS)
                signal.pause()
                os._exit(0)
            children.append(child)
    except BlockingIOError:
        pass
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return 0 < len(children) < allowed


def _is_reached(family: int, address: object) -> bool:
    try:
        with socket.socket(family, socket.SOCK_STREAM) as caller:
            caller.settimeout(CONNECT_SECONDS)
            caller.connect(address)  # type: ignore[arg-type]
    except OSError:
        return False
    return True


def _is_writable(path: str) -> bool:
    try:
        with open(path, "w"):
            pass
        os.unlink(path)
    except OSError:
        return False
    return True


def _fails(call: object, *arguments: int) -> bool:
    assert callable(call)
    return call(*arguments) == -1 and ctypes.get_errno() == errno.EPERM


def _is_lock_refused() -> bool:
    with open(__file__) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH)
        except PermissionError:
            return True
    return False


def _is_socket_refused() -> bool:
    try:
        socket.socket(AF_VSOCK, socket.SOCK_STREAM).close()
    except OSError as error:
        return error.errno == errno.EAFNOSUPPORT
    return False


TRIALS = (secret, network, environment, processes, writing, privileges, calls, limits, forks)


def eat(size: int) -> None:
    """Use this much memory, in pieces, and hold it for a moment."""
    taken = [bytearray(CHUNK) for _ in range(size // CHUNK)]
    for piece in taken:
        piece[:: resource.getpagesize()] = b"x" * len(piece[:: resource.getpagesize()])
    time.sleep(CONNECT_SECONDS)
    print(f"took {sum(map(len, taken))} bytes", flush=True)


def main(what: str, detail: str) -> None:
    if what == "eat":
        eat(int(detail))
        return
    facts = json.loads(detail)
    print(json.dumps({trial.__name__: trial(facts) for trial in TRIALS}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
