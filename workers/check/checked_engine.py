"""The engine that is checked: one process, kept from check to check and restarted after a fault."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from engines.protocol import SetOption, format_message
from engines.rules.registry import Variant
from workers.check.checked_process import Budget, CheckedProcess
from workers.engine.launch import Launch
from workers.reaper import remove_scratch

UNBUFFERED = "PYTHONUNBUFFERED"


class CheckedEngine:
    """Holds at most one process; the caller must ``clear`` it.

    ``options`` are set in every process, like those of a manifest. ``on_wait`` is called at least every half
    second of waiting for the engine, and may raise to abort the check.
    """

    def __init__(
        self,
        plan: Callable[[], Launch],
        budget: Budget,
        options: Sequence[tuple[str, str]] = (),
        on_wait: Callable[[], None] = lambda: None,
    ) -> None:
        self._plan = plan
        self.budget = budget
        """The time limit of the whole check."""
        self._on_wait = on_wait
        self._settings = [format_message(SetOption(name, value)) for name, value in options]
        self.process: CheckedProcess | None = None
        """The current process, or None."""
        self.start_seconds = 0.0
        """How long the latest process took up to its ``ugiok``."""
        self.name = ""
        """The name from the engine's latest ``id name``."""

    def running(self) -> CheckedProcess:
        """The current process; a new one if there is none or it has ended."""
        if self.process is None or self.process.engine.child.has_exited():
            return self.restart()
        return self.process

    def begin_game(self, game: Variant) -> CheckedProcess:
        """The current process, as ``running``, in a new game on this ladder."""
        process = self.running()
        process.begin_game(game)
        return process

    def restart(self) -> CheckedProcess:
        """Start a new process, up to its ``ugiok``; the previous one is killed."""
        self.clear()
        started = time.monotonic()
        self.process = CheckedProcess(self._plan(), self.budget, self._on_wait)
        self.process.introduce()
        self.start_seconds = time.monotonic() - started
        self.name = self.process.name or self.name
        self.configure()
        return self.process

    def configure(self) -> None:
        """Set ``options`` in the current process, also if a check has changed them."""
        if self._settings and self.process is not None:
            self.process.send(*self._settings)

    def restart_buffered(self) -> CheckedProcess | None:
        """Start a process in which Python buffers its output, without the handshake; None in a sandbox."""
        self.clear()
        launch = self._plan()
        if launch.sandboxed is not None:
            remove_scratch(launch.scratch)
            launch.sandboxed.end()
            return None
        environment = {name: value for name, value in launch.environment.items() if name != UNBUFFERED}
        self.process = CheckedProcess(replace(launch, environment=environment), self.budget, self._on_wait)
        return self.process

    def begin_check(self) -> None:
        """Reset the logs; raises ``CheckTimedOut`` when no time is left."""
        self.budget.deadline_ns(0)
        if self.process is not None:
            self.process.begin_log()

    def logs(self) -> tuple[str, str]:
        """The lines exchanged and the standard error of this check's last process."""
        return ("", "") if self.process is None else (self.process.log.text(), self.process.take_stderr())

    def clear(self) -> None:
        """Kill the process, if there is one. May be repeated."""
        process, self.process = self.process, None
        if process is not None:
            process.engine.kill()
