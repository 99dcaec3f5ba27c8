"""Tests at every start of a worker which sandbox works on this machine.

The probe starts an engine that tries to escape, with the same arguments as every other engine; the
resources that it reached decide the level.
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
from workers.engine.launch import plan_launch
from workers.engine.process import EngineFault, EngineOverLimit, EngineProcess
from workers.jobs import EngineSpec
from workers.sandbox import canary
from workers.sandbox.enclosure import NoSandbox, Sandbox, find_tools
from workers.sandbox.groups.hierarchies import VARIABLE, find_parent
from workers.sandbox.host import NEEDED, missing_programs
from workers.sandbox.levels import Level, Verdict, Want

TRIAL_SECONDS = 20
"""The time limit of one engine of the probe, which usually takes a tenth of a second."""
DECOY = "DUARENA_DECOY"
"""An environment variable of the worker that no engine may see."""
GREED = 2
"""The memory that an engine of the probe tries to allocate, as a multiple of its limit."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The outcome of one engine of the probe: its line, or why it ended without a line and its stderr."""

    line: str
    fault: EngineFault | None
    stderr: str


def probe(worker: str = "") -> tuple[Verdict, Sandbox | None]:
    """The sandbox level of this machine and its sandbox; None at level C. Takes about a second."""
    level, wants, sandbox = _judge()
    version = f"v{sandbox.parent.version}" if sandbox is not None and sandbox.parent is not None else ""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return Verdict(level, tuple(wants), now, worker, version), sandbox


def _judge() -> tuple[Level, list[Want], Sandbox | None]:
    if wants := list(_missing_requirements()):
        return Level.C, wants, None
    try:
        tools = find_tools()
    except NoSandbox as error:
        return Level.C, [Want(str(error))], None
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # with SIG_IGN bwrap waits forever
    parent = find_parent(os.environ.get(VARIABLE, ""))
    if parent is not None:
        parent.clear()
        full = Sandbox(tools, parent)
        if not (wants := _try_out(full)):
            return Level.A, [], full
    else:
        wants = [NO_GROUP]
    partial = Sandbox(tools, None)
    if failed := _try_out(partial):
        return Level.C, failed, None
    return Level.B, wants, partial


NO_GROUP = Want(
    "a control group of this user's own, with limits on memory and processes",
    "start ./arena as root, which makes one and becomes another user, or under systemd with Delegate=yes",
)
AS_ROOT = Want(
    "an unprivileged user: this is root, whom no wall holds",
    "start ./arena, which becomes another user, or do so",
)


def _missing_requirements() -> Iterator[Want]:
    if os.geteuid() == 0:
        yield AS_ROOT
    for name in missing_programs():
        yield Want(f"the program {name}", f"apt-get install {NEEDED[name]}", NEEDED[name])


def _try_out(sandbox: Sandbox) -> list[Want]:
    """What is wrong with a sandbox; empty if every test passes."""
    wants = _try_walls(sandbox)
    return wants or _try_memory(sandbox)


def _try_walls(sandbox: Sandbox) -> list[Want]:
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
            trial = _run(sandbox, "try", json.dumps(facts))
        finally:
            del os.environ[DECOY]
        if not trial.line:
            return [_failure(trial)]
        held: dict[str, bool] = json.loads(trial.line)
        held["network"] = held["network"] and not any(map(_was_reached, listeners))
    missing = {trial.__name__ for trial in canary.TRIALS} - held.keys()
    failed = [name for name, holds in held.items() if not holds] + sorted(missing)
    return [Want(f"walls that hold: an engine got past those of {', '.join(failed)}")] if failed else []


def _try_memory(sandbox: Sandbox) -> list[Want]:
    trial = _run(sandbox, "eat", str(GREED * sandbox.limits.memory))
    ended = isinstance(trial.fault, EngineOverLimit) and trial.fault.termination is Termination.MEMORY
    return [] if ended else [Want(f"a limit of memory that holds: an engine {trial.line or trial.fault}")]


def _run(sandbox: Sandbox, *arguments: str) -> Trial:
    with tempfile.TemporaryDirectory(prefix="duarena-canary-") as folder:
        os.chmod(folder, 0o755)
        shutil.copy(canary.__file__, Path(folder, "canary.py"))
        spec = EngineSpec("canary", "", ("python3", "-S", "canary.py", *arguments))
        try:
            process = EngineProcess(plan_launch(spec, Path(folder), sandbox))
        except OSError as error:
            return Trial("", EngineFault(str(error)), "")
        try:
            line = process.read_line(time.monotonic_ns() + TRIAL_SECONDS * 10**9)
            return Trial(line.decode("utf-8", "replace"), None, "")
        except EngineFault as fault:
            return Trial("", fault, process.take_stderr().decode("utf-8", "replace"))
        finally:
            process.kill()


def _failure(trial: Trial) -> Want:
    """Why an engine did not start, with a remedy for the common causes."""
    message = trial.stderr.strip().partition("\n")[0]
    for word, want in _CAUSES.items():
        if word in message:
            return want
    return Want(f"a sandbox that starts: {trial.fault}" + (f" ({message})" if message else ""))


_CAUSES = {
    "--disable-userns": Want("bubblewrap 0.8 or newer", "of Debian 12, Ubuntu 24.04 and later"),
    "uid map": Want(
        "user namespaces for this user: the system forbids them",
        "on Ubuntu an AppArmor profile for bwrap, see docs/sandbox.md",
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
