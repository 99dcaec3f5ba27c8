"""Where checks find the engine: one process kept from check to check, started anew after a fault."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engines.protocol import SetOption, format_message
from workers.check.subject import Budget, Subject
from workers.engine.launch import Launch


class CheckedEngines:
    """Holds at most one process. Whoever makes a bench must ``clear`` it.

    ``options`` are set in every process, as a manifest has them. ``on_wait`` is called now and then while
    the engine is waited for, and may raise to break everything off.
    """

    def __init__(
        self,
        plan: Callable[[], Launch],
        budget: Budget,
        options: Sequence[tuple[str, str]] = (),
        on_wait: Callable[[], None] = lambda: None,
    ) -> None:
        self._plan = plan
        self._budget = budget
        self._on_wait = on_wait
        self._settings = [format_message(SetOption(name, value)) for name, value in options]
        self.subject: Subject | None = None
        """The process of the moment, None between two."""
        self.name = ""
        """What the engine last called itself."""

    def take(self) -> Subject:
        """The process that is there, or a fresh one."""
        if self.subject is None or self.subject.has_exited():
            return self.fresh()
        return self.subject

    def fresh(self) -> Subject:
        """A new process that has introduced itself; the one before is ended."""
        self.clear()
        self.subject = Subject(self._plan(), self._budget, self._on_wait)
        self.subject.introduce()
        self.name = self.subject.name or self.name
        self.configure()
        return self.subject

    def configure(self) -> None:
        """Set the options of this bench, again where something else has set them."""
        if self._settings and self.subject is not None:
            self.subject.send(*self._settings)

    def begin_check(self) -> None:
        """Keep lines and standard error anew; raises ``OutOfTime`` when no time is left."""
        self._budget.deadline_ns(0)
        if self.subject is not None:
            self.subject.begin_log()

    def logs(self) -> tuple[str, str]:
        """The lines exchanged and the standard error of this check's last process."""
        return ("", "") if self.subject is None else (self.subject.log.text(), self.subject.take_stderr())

    def clear(self) -> None:
        """End the process, if there is one. May be repeated."""
        subject, self.subject = self.subject, None
        if subject is not None:
            subject.kill()
