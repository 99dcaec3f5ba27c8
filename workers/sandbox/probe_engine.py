"""An engine that tries to escape from the sandbox; run by the probe. Needs only the standard library.

    probe_engine.py try JSON     prints which tests passed, as a JSON object of booleans
    probe_engine.py eat BYTES    allocates this much memory and says so, unless it is killed first

It does no harm if the sandbox fails: it removes what it creates and changes nothing else.
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
    """A file of the worker and its folder are not visible."""
    return not os.path.exists(facts["secret"]) and not os.path.exists(os.path.dirname(facts["secret"]))


def network(facts: dict[str, str]) -> bool:
    """The worker's listeners on the loopback and on an abstract socket cannot be reached.

    The system call filter blocks the first, the network namespace the second.
    """
    return not (
        _is_reached(socket.AF_INET, ("127.0.0.1", int(facts["port"])))
        or _is_reached(socket.AF_UNIX, f"\0{facts['socket']}")
    )


def environment(facts: dict[str, str]) -> bool:
    """The worker's environment cannot be read."""
    with open("/proc/1/environ", "rb") as file:
        return facts["word"].encode() not in file.read() and facts["word"] not in os.environ.values()


def processes(facts: dict[str, str]) -> bool:
    """Only its own processes and those of the sandbox are visible."""
    seen = [name for name in os.listdir("/proc") if name.isdigit()]
    return len(seen) <= 3


def writing(facts: dict[str, str]) -> bool:
    """Only /tmp and /dev/shm are writable."""
    return not any(_is_writable(f"{folder}/probe") for folder in ("", "/engine", "/dev", "/usr", "/sdk"))


def privileges(facts: dict[str, str]) -> bool:
    """It has no capability, cannot gain one, and a system call filter is active."""
    with open("/proc/self/status") as file:
        lines = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    has_no_capability = all(int(lines[name], 16) == 0 for name in ("CapPrm", "CapEff", "CapBnd"))
    return has_no_capability and lines["NoNewPrivs"] == "1" and lines["Seccomp"] == "2" and os.getuid() != 0


def calls(facts: dict[str, str]) -> bool:
    """System calls of four kinds are refused: namespaces, tracing, locks and sockets of other families."""
    library = ctypes.CDLL(None, use_errno=True)
    refused = [_fails(library.unshare, CLONE_NEWUSER), _fails(library.ptrace, PTRACE_TRACEME, 0, 0, 0)]
    return all(refused) and _is_lock_refused() and _is_socket_refused()


def limits(facts: dict[str, str]) -> bool:
    """The resource limits are set and cannot be raised."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1] == int(facts["open_files"]) and (
        resource.getrlimit(resource.RLIMIT_FSIZE)[1] == int(facts["file_size"])
    )


def first_process(facts: dict[str, str]) -> bool:
    """The first process of its namespace is limited, and the limits cannot be raised."""
    kinds = (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_NPROC)
    return all(_is_limited(1, kind) for kind in kinds)


def forks(facts: dict[str, str]) -> bool:
    """It cannot start more processes than the limit."""
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
        with socket.socket(family, socket.SOCK_STREAM) as client:
            client.settimeout(CONNECT_SECONDS)
            client.connect(address)  # type: ignore[arg-type]
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


def _is_limited(process: int, kind: int) -> bool:
    limit = resource.prlimit(process, kind)[1]
    if limit == resource.RLIM_INFINITY:
        return False
    try:
        resource.prlimit(process, kind, (limit + 1, limit + 1))
    except (PermissionError, ValueError):
        return True
    return False


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


TESTS = (secret, network, environment, processes, writing, privileges, calls, limits, first_process, forks)


def eat(size: int) -> None:
    """Allocate and use ``size`` bytes, and keep them for two seconds."""
    chunks = [bytearray(CHUNK) for _ in range(size // CHUNK)]
    for chunk in chunks:
        chunk[:: resource.getpagesize()] = b"x" * len(chunk[:: resource.getpagesize()])
    time.sleep(CONNECT_SECONDS)
    print(f"took {sum(map(len, chunks))} bytes", flush=True)


def main(command: str, detail: str) -> None:
    if command == "eat":
        eat(int(detail))
        return
    facts = json.loads(detail)
    print(json.dumps({test.__name__: test(facts) for test in TESTS}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
