"""The argument of ``choose``: the game so far, the limits of the search, and reports to the server."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from engines.protocol import EngineMessage, Go, Info, Question, Score, SetPosition, Winner
from engines.rules.base import Outcome, Position, Result
from engines.rules.history import History
from engines.rules.registry import Variant
from engines.sdk.options import OptionValue

if TYPE_CHECKING:
    from random import Random

MOVES_TO_GO = 25
"""The number of moves over which the clock is spread; the end of a game can rarely be foreseen."""
INCREMENT_SHARE = 0.75
CLOCK_SHARE = 0.8
"""The largest part of the clock for one move; the rest is for the way to the server."""
MOVE_TIME_SHARE = 0.9
DEPTH_MS = 1000
"""The time of a search that is limited by depth alone, until it reports a depth."""


@dataclass(frozen=True, slots=True)
class Clock(Go):
    """The limits of this search as the server sent them; None means no such limit."""

    mover_is_p1: bool = True

    @property
    def left_ms(self) -> int | None:
        """The mover's own clock."""
        return self.p1_time_ms if self.mover_is_p1 else self.p2_time_ms

    @property
    def increment_ms(self) -> int:
        """Added to the mover's own clock after this move."""
        return (self.p1_inc_ms if self.mover_is_p1 else self.p2_inc_ms) or 0

    @property
    def budget_ms(self) -> float | None:
        """A reasonable time for this move, safely within every limit; None if time is unlimited."""
        budgets = []
        if self.left_ms is not None:
            share = self.left_ms / MOVES_TO_GO + self.increment_ms * INCREMENT_SHARE
            budgets.append(max(0.0, min(share, self.left_ms * CLOCK_SHARE)))
        if self.movetime_ms is not None:
            budgets.append(max(0.0, self.movetime_ms * MOVE_TIME_SHARE))
        return min(budgets, default=None)


class BotTurn:
    """One search: the position, the game so far, and the limits of the search.

    ``history`` contains the moves so far under the match rules; do not change it. If a runner continues
    a game that the match rules have ended, it stays at that end while ``position`` goes on. ``seed`` is
    None unless the runner sent one.
    """

    def __init__(
        self,
        line: InputLine,
        clock: Clock,
        options: Mapping[str, OptionValue],
        seed: int | None,
        search: Search,
        send: Callable[[EngineMessage], None],
    ) -> None:
        self.game: Variant = line.game
        self.position: Position = line.position
        self.history: History = line.history
        self.moves: tuple[str, ...] = tuple(line.moves)
        self.clock = clock
        self.options = options
        self.seed = seed
        self._search = search
        self._send = send
        self._calls_left = math.inf if clock.nodes is None else clock.nodes
        budget_ms = clock.budget_ms
        if budget_ms is None and clock.nodes is None and clock.depth is not None:
            budget_ms = DEPTH_MS
        self._deadline = math.inf if budget_ms is None else search.started + budget_ms / 1000

    def should_stop(self) -> bool:
        """Whether to answer now, by every limit of ``clock``. Cheap; call it once for each node.

        It is true after ``stop``, when ``clock.budget_ms`` is used up, after ``clock.nodes`` calls, and when
        ``info`` has reported ``clock.nodes`` or ``clock.depth``. If depth is the only limit and none is
        reported, it is true after ``DEPTH_MS``.
        """
        self._calls_left -= 1
        return self._calls_left < 0 or self._search.stopped or time.monotonic() >= self._deadline

    @property
    def stopped(self) -> bool:
        """Whether the server has sent ``stop``; for an engine that obeys all limits of ``clock`` itself."""
        return self._search.stopped

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds since the start of the search."""
        return int((time.monotonic() - self._search.started) * 1000)

    @cached_property
    def random(self) -> Random:
        """A random generator; its numbers depend on the seed and the ply. Without a seed they are new."""
        from random import Random  # engines that do not use it start faster

        return Random() if self.seed is None else Random(f"{self.seed}/{self.position.ply}")

    def info(
        self,
        *,
        depth: int | None = None,
        score: int | None = None,
        mate: int | None = None,
        nodes: int | None = None,
        pv: Iterable[str] = (),
        string: str = "",
    ) -> None:
        """Report on the search; the last value of each kind is stored in the record.

        ``depth`` is the last depth that is complete. ``score`` is in hundredths and ``mate`` in plies, both
        from the mover's side; ``mate`` takes precedence. The time is added.
        """
        self._note_progress(depth, nodes)
        stated = None if mate is None and score is None else Score(None if mate is not None else score, mate)
        elapsed_ms = self.elapsed_ms
        nps = None if nodes is None else nodes * 1000 // max(1, elapsed_ms)
        self._send(
            Info(
                depth=depth,
                score=stated,
                time_ms=elapsed_ms,
                nodes=nodes,
                nps=nps,
                pv=tuple(pv),
                string=one_line(string),
            )
        )

    def _note_progress(self, depth: int | None, nodes: int | None) -> None:
        clock = self.clock
        if depth is not None and clock.budget_ms is None:
            self._deadline = math.inf
        for reached, limit in ((depth, clock.depth), (nodes, clock.nodes)):
            if reached is not None and limit is not None and reached >= limit:
                self._calls_left = 0


@dataclass(eq=False, slots=True)
class Search:
    """One ``go``; shared by the reading and the searching thread."""

    go: Go
    started: float = field(default_factory=lambda: time.monotonic())
    stopped: bool = False
    over: bool = False


class InputLine:
    """The moves of the current game; each is played once, though every ``position`` repeats them."""

    def __init__(self, game: Variant, fen: str | None) -> None:
        self.game = game
        self.fen = fen
        self.moves: list[str] = []
        self.history = History(game, None if fen is None else game.position.parse(fen))
        self.position = self.history.position

    def leads_to(self, message: SetPosition) -> bool:
        """Whether ``message`` only adds moves to this line."""
        return self.fen == message.fen and self.moves == list(message.moves[: len(self.moves)])

    def play(self, token: str) -> None:
        """Play a move, also after the match rules ended the game: other runners may have other rules."""
        if self.history.outcome.decided:
            self.position = self.position.play(token)
        else:
            self.history.play(token)
            self.position = self.history.position
        self.moves.append(token)

    def answer(self, question: Question) -> str:
        outcome = self.history.outcome
        match question:
            case Question.GAME_OVER:
                return str(outcome.decided).lower()
            case Question.P1_TURN:
                return str(self.position.side is self.game.first).lower()
            case Question.RESULT:
                return winner_of(self.game, outcome)


def winner_of(game: Variant, outcome: Outcome) -> Winner:
    if not outcome.decided:
        return Winner.NONE
    if outcome.result is Result.DRAW:
        return Winner.DRAW
    return Winner.P1 if outcome.result is Result.win_for(game.first) else Winner.P2


def one_line(sentence: str) -> str:
    return " ".join(sentence.replace("\0", " ").split())
