"""The process of an engine, without its pipes' content: starts it, and ends it completely.

Killing an engine kills its process group and what has left it, and leaves no zombie, descriptor or
scratch folder.
"""

from __future__ import annotations

import os
import signal
import subprocess

from workers.engine.faults import EngineExited
from workers.engine.launch import Launch, check_program, is_untouched
from workers.exit_status import exit_sentence, signal_sentence
from workers.reaper import Reaper, remove_scratch
from workers.sandbox.sandbox import SAMPLER
from workers.strays import end_strays

PARENT = """
exec 3<&0 </dev/null
unset PWD OLDPWD SHLVL _
"$@" <&3 3<&- &
exec >/dev/null 2>&1 3<&-
wait $!
status=$?
[ $status -le 128 ] || kill -$((status - 128)) $$
exit $status
"""
"""The parent of an engine without a sandbox, which can kill its parent: that ends the engine, not the worker.

It keeps none of the engine's streams open and ends as the engine does."""

RUNNING: set[int] = set()
"""The engines of this process that have not been reaped."""
REAPER = Reaper()
"""Ends the engines of this process if it dies; every engine is registered with it."""


class EngineChild:
    """The process of one engine. The caller must ``end`` it.

    Raises ``OSError`` from the constructor when the program cannot be started.
    """

    def __init__(self, launch: Launch, reaper: Reaper) -> None:
        self.sandboxed = launch.sandboxed
        self.is_ended = False
        self._launch = launch
        self._reaper = reaper
        control_groups = () if self.sandboxed is None else self.sandboxed.control_groups
        try:
            reaper.watch(launch.scratch, control_groups=control_groups)
            if self.sandboxed is not None:
                self.sandboxed.enclose()
            self._popen = _spawn(launch)
        except BaseException:
            if self.sandboxed is not None:
                self.sandboxed.end()
            drop_scratch(launch.scratch, reaper)
            raise
        self.pid = self._popen.pid
        """Also the number of the session in which the engine and its child processes run."""
        streams = (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        self._streams = [stream for stream in streams if stream is not None]
        self.stdin, self.stdout, self.stderr = (stream.fileno() for stream in self._streams)
        RUNNING.add(self.pid)
        try:
            reaper.watch(launch.scratch, self.pid, control_groups)
            if self.sandboxed is not None:
                self.sandboxed.started(self.pid)
                if not self.sandboxed.freezes:
                    SAMPLER.watch(self.sandboxed)
        except BaseException:
            self.end()
            raise

    def close_input(self) -> None:
        """Close the engine's input; nothing can be written after this. May be repeated."""
        self._streams[0].close()

    def has_exited(self) -> bool:
        return self.is_ended or self._status() is not None

    def _status(self) -> os.waitid_result | None:
        """How the process ended, without reaping it; None while it runs."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)

    def exited(self) -> EngineExited:
        """The fault for the end of the process."""
        status = self._status()
        if status is None:
            return EngineExited(exit_sentence("?"))
        described = exit_sentence if status.si_code == os.CLD_EXITED else signal_sentence
        how = described(status.si_status)
        if self.sandboxed is None:
            return EngineExited(how)
        ending = self.sandboxed.explain(how)
        return EngineExited(ending.sentence, ending.termination)

    def limit_reached(self) -> EngineExited | None:
        """The sandbox limit that ended a process of the engine while the engine still runs, or None."""
        ending = None if self.sandboxed is None else self.sandboxed.limit_reached()
        return None if ending is None else EngineExited(ending.sentence, ending.termination)

    def kill(self) -> None:
        """Kill the engine and its process group. It must still be ended."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self._popen.kill()
        if self.sandboxed is not None:
            self.sandboxed.kill()

    def end(self, *, keep_scratch: bool = False) -> str | None:
        """Kill the engine and what has left its group, close its streams and reap it. Call it once.

        With ``keep_scratch`` the scratch folder is kept for the next start if the engine has left nothing in
        it; then returns it. It remains registered with the reaper until ``drop_scratch``.
        """
        self.is_ended = True
        self.kill()
        if self.sandboxed is not None:
            SAMPLER.forget(self.sandboxed)
            self.sandboxed.end()
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        scratch = self._launch.scratch
        if self.sandboxed is None:
            end_strays(scratch)
        for stream in self._streams:
            stream.close()
        is_kept = keep_scratch and is_untouched(self._launch)
        # The process is reaped last: only then may the kernel give its number to another process.
        if is_kept:
            self._reaper.watch(scratch)  # without the process group
        else:
            drop_scratch(scratch, self._reaper)
        self._popen.wait()
        RUNNING.discard(self.pid)
        return scratch if is_kept else None


def drop_scratch(scratch: str, reaper: Reaper = REAPER) -> None:
    """Remove the scratch folder of an engine that has ended."""
    remove_scratch(scratch)
    reaper.forget(scratch)


def _spawn(launch: Launch) -> subprocess.Popen[bytes]:
    argv = launch.argv
    if launch.sandboxed is None:
        check_program(argv[0], launch.environment.get("PATH", os.defpath))
        argv = ("/bin/sh", "-c", PARENT, "duarena-engine", *argv)
    return subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=launch.folder,
        env=dict(launch.environment),
        pass_fds=() if launch.sandboxed is None else launch.sandboxed.descriptors,
        bufsize=0,
        start_new_session=True,
    )
