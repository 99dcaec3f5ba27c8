"""The question to an engine on its turn: ``position`` and ``go``, as the bytes of one write.

Each move is appended to the position line instead of formatting it again, and only the clocks
of ``go`` change.
"""

from __future__ import annotations

from engines.protocol import SetPosition, format_message
from engines.rules.history import History
from engines.timecontrol import TimeControl, go_pattern
from workers.game.fastpath.clock import NS_PER_MS, GameClock


class Questions:
    """The questions of one game to both sides. ``controls`` and ``clocks`` are White's and Black's."""

    def __init__(
        self, history: History, controls: tuple[TimeControl, TimeControl], clocks: tuple[GameClock, GameClock]
    ) -> None:
        start, moves = history.start, tuple(history.moves)
        fen = None if start == history.game.position.initial() else str(start)
        self._position = format_message(SetPosition(fen, moves)).encode()
        self._joint = b" " if moves else b" moves "
        first = history.game.first
        increments_ms = (controls[first].increment_ms, controls[first.other].increment_ms)
        self._p1, self._p2 = clocks[first], clocks[first.other]
        self._searches = [
            (f"\n{go_pattern(control, increments_ms)}\n".split("%d"), control.base_ms) for control in controls
        ]
        """The parts of each side's ``go`` line between the clocks, and its base time."""

    def add(self, token: str) -> None:
        """Append a move that was played."""
        self._position += self._joint + token.encode()
        self._joint = b" "

    def ask(self, side: int) -> bytes:
        """The question to ``side`` with the current clocks; a side without a clock shows the base time."""
        go, base_ms = self._searches[side]
        if base_ms is None:
            return self._position + go[0].encode()
        p1_ns, p2_ns = self._p1.left_ns, self._p2.left_ns
        p1_ms = base_ms if p1_ns is None else p1_ns // NS_PER_MS
        p2_ms = base_ms if p2_ns is None else p2_ns // NS_PER_MS
        return self._position + f"{go[0]}{p1_ms}{go[1]}{p2_ms}{go[2]}".encode()
