"""Keeps which games of a match have been played, and chooses the next ones. Uses no processes or files.

A ledger can be rebuilt from the games of the record file; only the voids and lost slots are not restored.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import replace

from engines.visible import visible
from workers.jobs import BOTH_UNABLE, MAX_LOST, MAX_VOIDS, JobGame
from workers.match.options.options import Format, MatchTerms
from workers.match.options.words import MatchOptionError
from workers.match.plan import PlannedPair, count_games, pair_key, plan_pairs
from workers.match.results import GameResult, Scores
from workers.match.swiss import SwissPlan
from workers.sequential import SequentialTest


class Ledger:
    """The games of a match: played, running, given up and open."""

    def __init__(self, terms: MatchTerms) -> None:
        self.terms = terms
        self.total = count_games(terms)
        self.done = 0
        """Games with a result."""
        self.running = 0
        """Games that slots are playing or will play next."""
        self.halted: dict[str, str] = {}
        """The keys of games that were given up, with the reason."""
        self.scores = Scores(terms.names)
        order = (pair.key for pair in plan_pairs(terms))
        self.test = None if terms.sprt is None else SequentialTest(terms.sprt, order)
        self.failed_starts: Counter[str] = Counter()
        """For each engine, the games in a row that it forfeited before any move was chosen."""
        self.swiss = SwissPlan(terms) if terms.format is Format.SWISS else None
        self._plan: Iterator[PlannedPair | None] = (
            plan_pairs(terms) if self.swiss is None else self.swiss.pairs()
        )
        self._waiting: deque[PlannedPair] = deque()
        """Pairs that were returned, before the rest of the plan."""
        self._voids: Counter[str] = Counter()
        self._lost: Counter[str] = Counter()

    @property
    def is_decided(self) -> bool:
        """Whether there is a sequential test and it is decided."""
        return self.test is not None and self.test.is_decided

    @property
    def left(self) -> int:
        """The number of games still to be played, including the running ones."""
        return self.total - self.done - len(self.halted)

    def restore(self, games: Iterable[GameResult]) -> None:
        """Add the games of an earlier run. Call this first.

        A game that was given up is played again, except in a Swiss event, whose later rounds depend on it.
        Raises ``MatchOptionError`` for a game that is not in this match, or that occurs twice.
        """
        results: dict[str, GameResult] = {}
        for game in games:
            if game.key in results:
                raise MatchOptionError(f"game {visible(game.key)} is in the record file twice")
            if self.swiss is not None or not game.is_void:
                results[game.key] = game
        open_pairs = []
        while results and (pair := self._next_planned()) is not None:
            is_open = [self._is_missing(pair, game, results.pop(game.key, None)) for game in pair.games]
            if any(is_open):
                left = tuple(game for game, is_left in zip(pair.games, is_open, strict=True) if is_left)
                open_pairs.append(replace(pair, games=left))
        if results:
            key = visible(min(results))
            raise MatchOptionError(f"game {key} is not in this match: it has other games or fewer rounds")
        self._waiting.extend(open_pairs)

    def _is_missing(self, pair: PlannedPair, game: JobGame, result: GameResult | None) -> bool:
        """Whether a planned game has no result yet; counts the result, or raises ``MatchOptionError``."""
        if result is None:
            return True
        if (result.ladder, result.white, result.black) != (pair.ladder, *self.players(pair, game)):
            players = visible(f"{result.white} and {result.black}")
            raise MatchOptionError(f"game {result.key} is from another match: {players} played it")
        if result.is_void:
            self._give_up(game.key, "it was given up before")
        else:
            self._count(result)
        return False

    def next_pair(self) -> PlannedPair | None:
        """The pair to play next, now counted as running; None if no game can be started now."""
        pair = None if self.is_decided else self._next_planned()
        self.running += 0 if pair is None else len(pair.games)
        return pair

    def _next_planned(self) -> PlannedPair | None:
        return self._waiting.popleft() if self._waiting else next(self._plan, None)

    def players(self, pair: PlannedPair, game: JobGame) -> tuple[str, str]:
        """The names of White and Black."""
        white, black = pair.players(game)
        return self.terms.names[white], self.terms.names[black]

    def record(self, game: GameResult) -> None:
        """Count the result of a running game."""
        self.running -= 1
        self._count(game)

    def void(self, pair: PlannedPair, game: JobGame, evidence: str) -> bool:
        """Count a void of a running game; returns whether the game is given up now."""
        self._voids[game.key] += 1
        give_up = evidence.startswith(BOTH_UNABLE) or self._voids[game.key] >= MAX_VOIDS
        self._return(pair, [game], evidence if give_up else "")
        return give_up

    def give_back(self, pair: PlannedPair, games: list[JobGame], *, lost: bool) -> None:
        """Return running games that were not finished; ``lost``: because their slot ended unexpectedly."""
        self._lost[games[0].key] += lost
        is_hopeless = self._lost[games[0].key] >= MAX_LOST
        self._return(pair, games, "its slot ended unexpectedly too often" if is_hopeless else "")

    def _return(self, pair: PlannedPair, games: list[JobGame], why: str) -> None:
        """Return running games; if there is a reason ``why``, the first one is given up."""
        self.running -= len(games)
        if why:
            self._give_up(games[0].key, why)
            games = games[1:]
        if games:
            self._waiting.append(replace(pair, games=tuple(games)))

    def _give_up(self, key: str, why: str) -> None:
        self.halted[key] = why
        if self.test is not None:
            self.test.skip(pair_key(key))
        if self.swiss is not None:
            self.swiss.add(key, None)

    def _count(self, game: GameResult) -> None:
        self.done += 1
        score = self.scores.add(game)
        if self.swiss is not None:
            self.swiss.add(game.key, game)
        if self.test is not None and game.is_failed_start:
            self.test.skip(pair_key(game.key))  # it says nothing about strength
        if self.test is not None and score is not None:
            self.test.add(pair_key(game.key), score)
        for name in (game.white, game.black):
            has_failed = game.is_failed_start and game.culprit == name
            self.failed_starts[name] = self.failed_starts[name] + 1 if has_failed else 0
