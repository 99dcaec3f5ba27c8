"""Random games, from which the results, moves and records of a filled site are made."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engines.records import Fault, Termination
from engines.rules.base import Reason, Result, Side
from engines.rules.history import History
from engines.rules.registry import find_game
from workers.jobs import BOOK

GAMES = 8
"""Games from one opening."""
TRIES = 3 * GAMES
"""The most games that are played until every result occurs."""
FORFEITS = (Termination.TIME, Termination.CRASH, Termination.ILLEGAL_MOVE)
_BY_RULES = {Reason.REPETITION: Termination.REPETITION, Reason.PLY_LIMIT: Termination.PLY_LIMIT}


@dataclass(frozen=True, slots=True)
class SampleGame:
    """The moves with their comments, and how the game ended."""

    moves: tuple[tuple[str, str], ...]
    result: Result
    termination: Termination
    reason: Reason
    fault: Fault
    evidence: str
    white_score: int | None
    black_score: int | None


class Samples:
    """Random games by ladder and opening; the same seed gives the same games."""

    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)
        self._known: dict[tuple[str, str], dict[Result, list[SampleGame]]] = {}

    def choose(self, ladder: str, opening: str, wanted: Result, *, forfeit: bool) -> SampleGame:
        """A game with this result, or another one if none of the opening's games has it."""
        known = self._known.get((ladder, opening))
        if known is None:
            known = self._known[ladder, opening] = self._draw(ladder, opening.split())
        found = known.get(wanted) or next(iter(known.values()))
        chosen = self._source.choice(found)
        return self._forfeited(ladder, chosen, len(opening.split())) if forfeit else chosen

    def _draw(self, ladder: str, opening: Sequence[str]) -> dict[Result, list[SampleGame]]:
        found: dict[Result, list[SampleGame]] = {}
        for number in range(TRIES):
            game = self._play(ladder, opening)
            found.setdefault(game.result, []).append(game)
            if number + 1 >= GAMES and len(found) == len(FORFEITS):
                break
        return found

    def _play(self, ladder: str, opening: Sequence[str]) -> SampleGame:
        history = History(find_game(ladder))
        moves = []
        for token in opening:
            history.play(token)
            moves.append((token, BOOK))
        while not history.outcome.decided:
            token = self._source.choice(list(history.position.legal_moves()))
            history.play(token)
            score, depth = self._source.randint(-300, 300) / 100, self._source.randint(4, 20)
            moves.append((token, f"{score:+.2f}/{depth} {self._source.randint(1, 400) / 1000:.3f}s"))
        outcome = history.outcome
        return SampleGame(
            tuple(moves),
            outcome.result,
            _BY_RULES.get(outcome.reason, Termination.RULES),
            outcome.reason,
            Fault.NONE,
            "",
            outcome.white_score,
            outcome.black_score,
        )

    def _forfeited(self, ladder: str, game: SampleGame, given: int) -> SampleGame:
        """The game up to a ply at which the side to move is at fault."""
        plies = self._source.randint(given, max(given, len(game.moves) - 1))
        history = History(find_game(ladder))
        for token, _ in game.moves[:plies]:
            history.play(token)
        side = history.position.side
        return replace(
            game,
            moves=game.moves[:plies],
            result=Result.win_for(Side.WHITE if side is Side.BLACK else Side.BLACK),
            termination=self._source.choice(FORFEITS),
            reason=Reason.NONE,
            fault=Fault.of(side),
            evidence="no answer",
            white_score=None,
            black_score=None,
        )
