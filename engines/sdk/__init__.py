"""Everything that an engine in Python needs, except the choice of a move. Begin with ``run``.

    from engines.sdk import run

    def choose(turn):
        return next(turn.position.legal_moves())

    run(choose, name="First Move")

``session`` speaks UGI; ``turn`` is the argument of ``choose``. Examples of a search are in ``engines.bots``.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

from engines.protocol import RESIGN, OptionDeclared
from engines.rules.registry import GAMES, find_game
from engines.sdk.options import OptionValue, check, combo, spin, text
from engines.sdk.session import Session
from engines.sdk.turn import BotTurn, Clock

Turn = BotTurn
"""The name under which bots import ``BotTurn``."""

__all__ = [
    "RESIGN",
    "BotTurn",
    "Clock",
    "OptionValue",
    "Session",
    "Turn",
    "check",
    "combo",
    "run",
    "spin",
    "text",
]


def run(
    choose: Callable[[BotTurn], str],
    *,
    name: str,
    games: Sequence[str] | None = None,
    author: str = "",
    options: Iterable[OptionDeclared] = (),
    on_new_game: Callable[[], None] | None = None,
) -> None:
    """Play until ``quit`` or the end of the input; ``choose`` returns a move, or ``RESIGN``.

    ``games`` are the ladders' codes, the first being the default; None means all of
    them. ``options`` come from ``spin``, ``check``, ``text`` and ``combo``; their values
    are in ``BotTurn.options``. ``on_new_game`` is called before each game: everything learnt
    from earlier games must be forgotten. An exception of ``choose`` ends the process with
    its traceback on standard error.
    """
    known = [find_game(code) for code in (GAMES if games is None else games)]
    session = Session(choose, name, author, known, tuple(options), on_new_game, _write_line)
    with contextlib.redirect_stdout(sys.stderr):
        session.serve(_read_lines(sys.stdin.fileno()))


def _read_lines(descriptor: int) -> Iterator[str]:
    """Reads from the descriptor: a thread waiting in a buffered read would delay the exit."""
    pending = b""
    while chunk := os.read(descriptor, 65536):
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace")
    yield pending.decode("utf-8", "replace")


_STANDARD_OUTPUT = 1


def _write_line(line: str) -> None:
    """Writes at once and to the descriptor; ``sys.stdout`` is the log while an engine runs."""
    data = f"{line}\n".encode("utf-8", "replace")
    while data:
        data = data[os.write(_STANDARD_OUTPUT, data) :]
