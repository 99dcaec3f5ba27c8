"""Formats how an engine process ended, as a sentence for the engine's author."""

from __future__ import annotations

import signal


def exit_sentence(code: int | str) -> str:
    return f"the process ended with exit code {code}"


def signal_sentence(number: int) -> str:
    try:
        name = f" ({signal.Signals(number).name})"
    except ValueError:
        name = ""
    return f"the process was ended by signal {number}{name}"
