"""Tests which sandbox level works on this machine: when a worker starts, and again after an uncertain result.

The probe starts an engine that tries to escape (``workers.sandbox.probe_engine``) in the same way as every
other engine. What that engine could reach decides the level.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import secrets
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engines.records import Termination
from workers.engine.faults import EngineFault
from workers.engine.launch import plan_launch
from workers.engine.process import EngineProcess
from workers.jobs import EngineSpec
from workers.sandbox import probe_engine
from workers.sandbox.groups.cgroups import GroupParent
from workers.sandbox.groups.hierarchies import VARIABLE, look_for_parent
from workers.sandbox.host import NEEDED, missing_programs
from workers.sandbox.levels import Level, Verdict, Want, format_want
from workers.sandbox.sandbox import NoSandbox, Sandbox, find_tools

PROBE_SECONDS = 20
"""The time limit of one run of the probe's engine, which usually takes a tenth of a second."""
DECOY = "DUARENA_DECOY"
"""An environment variable of the worker that no engine may see."""
AGAIN = "a busy machine can be the cause: workers probe again by themselves"
EXCESS = 2
"""The memory that the probe's engine tries to allocate, as a multiple of its limit."""


@dataclass(frozen=True, slots=True)
class ProbeRun:
    """The outcome of one run of the probe's engine: its line, or why it ended without one and its stderr."""

    line: str
    fault: EngineFault | None
    stderr: str


def probe(worker: str = "") -> tuple[Verdict, Sandbox | None]:
    """The sandbox level of this machine and its sandbox; None at level C. Takes about a second."""
    level, wants, sandbox = _find_level()
    version = f"v{sandbox.parent.version}" if sandbox is not None and sandbox.parent is not None else ""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return Verdict(level, tuple(wants), now, worker, version), sandbox


def require_sandbox(worker: str) -> tuple[Verdict, Sandbox]:
    """As ``probe``; raises ``NoSandbox`` at level C."""
    verdict, sandbox = probe(worker)
    if sandbox is None:
        lacks = "; ".join(map(format_want, verdict.wants))
        raise NoSandbox(f"this machine has no sandbox. Missing: {lacks}")
    return verdict, sandbox


def _find_level() -> tuple[Level, list[Want], Sandbox | None]:
    if wants := list(_missing_requirements()):
        return Level.C, wants, None
    try:
        tools = find_tools()
    except NoSandbox as error:
        return Level.C, [Want(str(error))], None
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # with SIG_IGN bwrap waits forever
    parent = look_for_parent(os.environ.get(VARIABLE, ""))
    if isinstance(parent, GroupParent):
        parent.clear()
        full = Sandbox(tools, parent)
        if not (wants := _find_faults(full)):
            return Level.A, [], full
    else:
        wants = [parent]
    partial = Sandbox(tools, None)
    if faults := _find_faults(partial):
        return Level.C, faults, None
    return Level.B, wants, partial


AS_ROOT = Want(
    "an unprivileged user: the sandbox cannot confine root",
    "start ./arena, which becomes another user, or become one yourself",
)


def _missing_requirements() -> Iterator[Want]:
    if os.geteuid() == 0:
        yield AS_ROOT
    for name in missing_programs():
        yield Want(f"the program {name}", f"apt-get install {NEEDED[name]}", NEEDED[name])


def _find_faults(sandbox: Sandbox) -> list[Want]:
    """What is wrong with a sandbox; empty if every test passes."""
    return _try_to_escape(sandbox) or _try_memory(sandbox)


def _try_to_escape(sandbox: Sandbox) -> list[Want]:
    word, limits = secrets.token_hex(), sandbox.limits
    with tempfile.TemporaryDirectory(prefix="duarena-probe-") as folder, _listeners(word) as listeners:
        secret = Path(folder, "secret")
        secret.write_text(word)
        facts = {
            "secret": str(secret),
            "port": str(listeners[0].getsockname()[1]),
            "socket": word,
            "word": word,
            "open_files": str(limits.open_files),
            "file_size": str(limits.file_size),
            "processes": str(limits.processes),
        }
        os.environ[DECOY] = word
        try:
            run = _run(sandbox, "try", json.dumps(facts))
        finally:
            del os.environ[DECOY]
        if not run.line:
            return [_failure(run)]
        passed: dict[str, bool] = json.loads(run.line)
        passed["network"] = passed["network"] and not any(map(_was_reached, listeners))
    missing = {test.__name__ for test in probe_engine.TESTS} - passed.keys()
    failed = [name for name, has_passed in passed.items() if not has_passed] + sorted(missing)
    if not failed:
        return []
    return [Want(f"a sandbox that confines: an engine passed its limits on {', '.join(failed)}")]


def _try_memory(sandbox: Sandbox) -> list[Want]:
    run = _run(sandbox, "eat", str(EXCESS * sandbox.limits.memory))
    if run.fault is not None and run.fault.termination is Termination.MEMORY:
        return []
    lack = f"a memory limit that works: an engine exceeded it, with the result: {run.line or run.fault}"
    return [Want(lack, AGAIN, may_pass=True)]


def _run(sandbox: Sandbox, *arguments: str) -> ProbeRun:
    with tempfile.TemporaryDirectory(prefix="duarena-probe-engine-") as folder:
        os.chmod(folder, 0o755)
        shutil.copy(probe_engine.__file__, folder)
        program = Path(probe_engine.__file__).name
        spec = EngineSpec("probe", "", ("python3", "-S", program, *arguments))
        try:
            process = EngineProcess(plan_launch(spec, Path(folder), sandbox))
        except OSError as error:
            return ProbeRun("", EngineFault(str(error)), "")
        try:
            line = process.read_line(time.monotonic_ns() + PROBE_SECONDS * 10**9)
            return ProbeRun(line.decode("utf-8", "replace"), None, "")
        except EngineFault as fault:
            return ProbeRun("", fault, process.take_stderr().decode("utf-8", "replace"))
        finally:
            process.kill()


def _failure(run: ProbeRun) -> Want:
    """Why an engine did not start, with a remedy for the common causes."""
    message = run.stderr.strip().partition("\n")[0]
    for word, want in _CAUSES.items():
        if word in message:
            return want
    lack = f"a sandbox that starts: {run.fault}" + (f" ({message})" if message else "")
    return Want(lack, AGAIN, may_pass=True)


_CAUSES = {
    "--disable-userns": Want("bubblewrap 0.8 or newer", "of Debian 12, Ubuntu 24.04 and later"),
    "uid map": Want(
        "user namespaces for this user: the system forbids them",
        "on Ubuntu add an AppArmor profile for bwrap, see docs/sandbox.md",
    ),
    "new namespace": Want(
        "user namespaces for this user: the system or the container forbids them", "see docs/sandbox.md"
    ),
}


@contextlib.contextmanager
def _listeners(name: str) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Listeners on the loopback and on an abstract socket; both belong to this network namespace."""
    with socket.create_server(("127.0.0.1", 0)) as one, socket.socket(socket.AF_UNIX) as two:
        two.bind(f"\0{name}")
        two.listen()
        for listener in (one, two):
            listener.setblocking(False)
        yield one, two


def _was_reached(listener: socket.socket) -> bool:
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True
