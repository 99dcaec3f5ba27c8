"""What an engine can do wrong, as exceptions; the texts are sentences of evidence."""

from __future__ import annotations

from engines.records import Termination


class EngineFault(Exception):
    """An engine misbehaved; ``termination`` is how that ends a game."""

    termination = Termination.CRASH


class EngineSilent(EngineFault):
    """No line arrived, or no input was read, before the deadline."""

    termination = Termination.STALL


class EnginePipeClosed(EngineSilent):
    """The engine has closed its input or its output and has not ended."""


class EngineFlooded(EngineFault):
    """The engine sent more output than is allowed."""

    termination = Termination.FLOOD


class EngineExited(EngineFault):
    """The process has ended; all its output has been read.

    It ended by itself, by a signal, by a limit of the sandbox, or because the sandbox failed (``VOID``).
    """

    def __init__(self, sentence: str, termination: Termination = Termination.CRASH) -> None:
        super().__init__(sentence)
        self.termination = termination
