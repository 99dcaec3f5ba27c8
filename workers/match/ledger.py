"""Keeps which games of a match have been played, and chooses the next ones. Uses no processes or files.

A ledger can be rebuilt from the games of the record file, in their order; only the voids and lost slots are
not restored.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import replace

from engines.visible import visible
from workers.jobs import BOTH_UNABLE, MAX_LOST, MAX_VOIDS, JobGame
from workers.match.events import EventPlan
from workers.match.options.options import ROUND_BY_ROUND, MatchTerms
from workers.match.options.words import MatchOptionError
from workers.match.plan import PlannedPair, count_games, is_game_key, pair_key, plan_pairs
from workers.match.results import GameResult, Scores
from workers.sequential import SequentialTest

HALVES = (1, 1)
"""The half points of a game of an event that is not played, for both engines."""


class Ledger:
    """An engine is withdrawn after ``withdraw_after`` forfeits in a row; 0 is never."""

    def __init__(self, terms: MatchTerms, withdraw_after: int = 0) -> None:
        self.terms = terms
        self._open = Counter(
            {
                frozenset(terms.entrants[place].name for place in two): games
                for two, games in count_games(terms).items()
            }
        )
        """For each two engines, the games without a result that were not given up."""
        self._running: Counter[frozenset[str]] = Counter()
        self._event = EventPlan(terms) if terms.format in ROUND_BY_ROUND else None
        self._total = sum(self._open.values())
        self.done = 0
        """Games with a result."""
        self.withdrawn: list[str] = []
        self.halted: dict[str, str] = {}
        """The keys of games that were given up, with the reason."""
        self.scores = Scores([entrant.name for entrant in terms.entrants])
        order = (pair.key for pair in plan_pairs(terms))
        self.test = None if terms.sprt is None else SequentialTest(terms.sprt, order)
        self._withdraw_after = withdraw_after
        self._in_a_row: Counter[str] = Counter()
        self.failed_starts: Counter[str] = Counter()
        """For each engine, the games in a row that it forfeited before any move was chosen."""
        self._plan = plan_pairs(terms)
        self._waiting: deque[PlannedPair] = deque()
        """Before the rest of the plan: pairs that were returned, and of an event those that are due."""
        self._voids: Counter[str] = Counter()
        self._lost: Counter[str] = Counter()
        self._take_due()

    @property
    def total(self) -> int:
        """The games of the match, as far as they are known."""
        return self._total if self._event is None else self._event.total

    @property
    def event_lines(self) -> list[str]:
        """The bracket of a knock-out, or the points of a Swiss event; empty for other formats."""
        return [] if self._event is None else list(self._event.lines())

    @property
    def is_decided(self) -> bool:
        """Whether there is a sequential test and it is decided."""
        return self.test is not None and self.test.is_decided

    @property
    def running(self) -> int:
        """The number of games that slots are playing or will play next."""
        return self._running.total()

    @property
    def left_out(self) -> int:
        """The number of games that will not be played because an engine was withdrawn."""
        return sum(
            games - self._running[two]
            for two, games in self._open.items()
            if not two.isdisjoint(self.withdrawn)
        )

    @property
    def left(self) -> int:
        """The number of games still to be played, including the running ones."""
        return sum(self._open.values()) - self.left_out

    def restore(self, games: Iterable[GameResult]) -> None:
        """Add the games of an earlier run, in the order of their record file. Call this first.

        Raises ``MatchOptionError`` for a game that is not in this match, or that occurs twice.
        """
        results: dict[str, GameResult] = {}
        for game in games:
            if game.key in results:
                raise MatchOptionError(f"game {game.key} is in the record file twice")
            if not is_game_key(game.key, game.ladder):
                raise MatchOptionError(_not_in_match(game.key))
            if not {game.white, game.black} <= set(self.scores.names):
                raise MatchOptionError(_of_another_match(game))
            if self._event is not None or not game.is_void:  # a game that was given up is played again
                results[game.key] = game
                self.done += not game.is_void
        if self._event is None:
            for game in results.values():
                self._count(game)
        self._waiting.extendleft(reversed(self._take_out(results)))

    def _take_out(self, results: dict[str, GameResult]) -> list[PlannedPair]:
        """Go through the plan up to the last of these games; returns the games in between that are open.

        The games of an event are counted here, because later pairs depend on them; its voids stay given up.
        Raises ``MatchOptionError`` unless each game is planned with these engines.
        """
        open_pairs = []
        while results and (pair := self._next_planned()) is not None:
            missing = []
            for game in pair.games:
                result = results.pop(game.key, None)
                if result is None:
                    missing.append(game)
                elif (result.white, result.black) != self.players(pair, game):
                    raise MatchOptionError(_of_another_match(result))
                elif result.is_void:
                    self._give_up(pair, game, "it was given up before")
                elif self._event is not None:
                    self._count(result)
            if missing:
                open_pairs.append(replace(pair, games=tuple(missing)))
            self._take_due()
        if results:
            raise MatchOptionError(_not_in_match(min(results)))
        return open_pairs

    def next_pair(self) -> PlannedPair | None:
        """The pair to play next, now counted as running; None if no game is left to start."""
        while not self.is_decided and (pair := self._next_planned()) is not None:
            if not self._is_left_out(pair):
                self._running[self._names(pair)] += len(pair.games)
                return pair
        return None

    def players(self, pair: PlannedPair, game: JobGame) -> tuple[str, str]:
        """The names of White and Black."""
        names = self.scores.names
        return names[pair.white_of(game)], names[pair.black_of(game)]

    def record(self, game: GameResult) -> str | None:
        """Count the result of a running game; returns the name of an engine that is withdrawn for it."""
        self._running[frozenset((game.white, game.black))] -= 1
        self.done += 1
        return self._count(game)

    def void(self, pair: PlannedPair, game: JobGame, evidence: str) -> bool:
        """Count a void of a running game; returns whether the game is given up now."""
        self._voids[game.key] += 1
        is_hopeless = evidence.startswith(BOTH_UNABLE)
        if is_hopeless:
            for name in self.players(pair, game):
                self._count_forfeit(name)
        return self._return(pair, [game], evidence, give_up=is_hopeless or self._voids[game.key] >= MAX_VOIDS)

    def give_back(self, pair: PlannedPair, games: list[JobGame], *, lost: bool) -> None:
        """Return running games that were not finished; ``lost``: because their slot ended unexpectedly."""
        if lost:
            self._lost[games[0].key] += 1
        self._return(
            pair, games, "its slot ended unexpectedly too often", give_up=self._lost[games[0].key] >= MAX_LOST
        )

    def _return(self, pair: PlannedPair, games: list[JobGame], why: str, *, give_up: bool) -> bool:
        self._running[self._names(pair)] -= len(games)
        if give_up:
            self._give_up(pair, games[0], why)
            games = games[1:]
        if games:
            self._waiting.append(replace(pair, games=tuple(games)))
        self._take_due()
        return give_up

    def _give_up(self, pair: PlannedPair, game: JobGame, why: str) -> None:
        self._open[self._names(pair)] -= 1
        self.halted[game.key] = why
        self._skip(pair)
        self._add_to_event(game.key, HALVES)

    def _next_planned(self) -> PlannedPair | None:
        return self._waiting.popleft() if self._waiting else next(self._plan, None)

    def _is_left_out(self, pair: PlannedPair) -> bool:
        """Whether one of the two engines is withdrawn; then the test skips the pair."""
        if self._names(pair).isdisjoint(self.withdrawn):
            return False
        self._skip(pair)
        names = self.scores.names
        points = [0 if names[place] in self.withdrawn else 2 for place in (pair.first, pair.second)]
        for game in pair.games:
            self._add_to_event(game.key, HALVES if points == [0, 0] else (points[0], points[1]))
        self._take_due()
        return True

    def _take_due(self) -> None:
        """Add the pairs of an event that have become due."""
        for pair in [] if self._event is None else self._event.take_due():
            self._open[self._names(pair)] += len(pair.games)
            self._waiting.append(pair)

    def _add_to_event(self, key: str, points: tuple[int, int]) -> None:
        """Add the half points of a meeting's players to the event, if the match is one."""
        if self._event is not None:
            self._event.add(key, points)

    def _names(self, pair: PlannedPair) -> frozenset[str]:
        names = self.scores.names
        return frozenset((names[pair.first], names[pair.second]))

    def _skip(self, pair: PlannedPair) -> None:
        if self.test is not None:
            self.test.skip(pair.key)

    def _count(self, game: GameResult) -> str | None:
        self._open[frozenset((game.white, game.black))] -= 1
        score = self.scores.add(game)
        if self._event is not None:
            first = self._event.first_of(game.key)
            points = game.half_points(first)
            self._event.add(game.key, (points, 2 - points))
            self._take_due()
        if self.test is not None and game.is_failed_start:
            self.test.skip(pair_key(game.key))  # it says nothing about strength
        if self.test is not None and score is not None:
            self.test.add(pair_key(game.key), score)
        for name in (game.white, game.black):
            has_failed = game.is_failed_start and game.culprit == name
            self.failed_starts[name] = self.failed_starts[name] + 1 if has_failed else 0
            if name != game.culprit:
                self._in_a_row[name] = 0
        return None if game.culprit is None else self._count_forfeit(game.culprit)

    def _count_forfeit(self, name: str) -> str | None:
        """Count another forfeit in a row; returns the name if the engine is withdrawn for it."""
        self._in_a_row[name] += 1
        if name in self.withdrawn or self._in_a_row[name] != self._withdraw_after:
            return None
        self.withdrawn.append(name)
        return name


def _not_in_match(key: str) -> str:
    return f"game {visible(key)} is not in this match: it has other games or fewer rounds"


def _of_another_match(game: GameResult) -> str:
    players = visible(f"{game.white} and {game.black}")
    return f"game {visible(game.key)} is from another match: {players} played it"
