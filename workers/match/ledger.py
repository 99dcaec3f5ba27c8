"""Keeps which games of a match have been played, and chooses the next ones. Uses no processes or files.

A ledger can be rebuilt from the games of the record file, in their order; only the voids and lost slots are
not restored.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import replace

from engines.visible import visible
from workers.game.referee import BOTH_UNABLE
from workers.jobs import MAX_LOST, MAX_VOIDS, JobGame
from workers.match.options.options import MatchTerms
from workers.match.options.words import MatchOptionError
from workers.match.plan import PlannedPair, count_games, is_game_key, pair_key, plan_pairs
from workers.match.results import GameResult, Scores
from workers.match.sequential import SequentialTest


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
        self.total = sum(self._open.values())
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
        self._failed_starts: Counter[str] = Counter()
        self._plan = plan_pairs(terms)
        self._returned: deque[PlannedPair] = deque()
        self._played: set[str] = set()
        self._voids: Counter[str] = Counter()
        self._lost: Counter[str] = Counter()

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

    def failed_starts(self, name: str) -> int:
        """The number of games in a row that an engine forfeited before any move was chosen."""
        return self._failed_starts[name]

    def restore(self, games: Iterable[GameResult]) -> None:
        """Add the games of an earlier run, in the order of their record file. Call this first.

        Raises ``MatchOptionError`` for a game that is not in this match, or that occurs twice.
        """
        found: dict[str, tuple[str, str]] = {}
        for game in games:
            players = (game.white, game.black)
            if game.key in found:
                raise MatchOptionError(f"game {game.key} is in the record file twice")
            if not is_game_key(game.key, game.ladder):
                raise MatchOptionError(_not_in_match(game.key))
            if not set(players) <= set(self.scores.names):
                raise MatchOptionError(_of_another_match(game.key, players))
            if not game.is_void:  # a game that was given up is played again
                found[game.key] = players
                self.done += 1
                self._count(game)
        self._check_players(found)
        self._played = set(found)

    def _check_players(self, played: Mapping[str, tuple[str, str]]) -> None:
        """Raise ``MatchOptionError`` unless each game, by its key, is planned with these engines."""
        found = dict(played)
        for pair in plan_pairs(self.terms):
            if not found:
                return
            for game in pair.games:
                players = found.pop(game.key, None)
                if players is not None and players != self.players(pair, game):
                    raise MatchOptionError(_of_another_match(game.key, players))
        if found:
            raise MatchOptionError(_not_in_match(min(found)))

    def next_pair(self) -> PlannedPair | None:
        """The pair to play next, now counted as running; None if no game is left to start."""
        if self.is_decided:
            return None
        pair = self._next_returned() or self._next_planned()
        if pair is not None:
            self._running[self._names(pair)] += len(pair.games)
        return pair

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
            self._open[self._names(pair)] -= 1
            self.halted[games[0].key] = why
            self._skip(pair)
            games = games[1:]
        if games:
            self._returned.append(replace(pair, games=tuple(games)))
        return give_up

    def _next_returned(self) -> PlannedPair | None:
        while self._returned:
            pair = self._returned.popleft()
            if not self._is_left_out(pair):
                return pair
        return None

    def _next_planned(self) -> PlannedPair | None:
        for pair in self._plan:
            open_games = tuple(game for game in pair.games if game.key not in self._played)
            self._played.difference_update(game.key for game in pair.games)
            if open_games and not self._is_left_out(replaced := replace(pair, games=open_games)):
                return replaced
        return None

    def _is_left_out(self, pair: PlannedPair) -> bool:
        """Whether one of the two engines is withdrawn; then the test skips the pair."""
        if self._names(pair).isdisjoint(self.withdrawn):
            return False
        self._skip(pair)
        return True

    def _names(self, pair: PlannedPair) -> frozenset[str]:
        names = self.scores.names
        return frozenset((names[pair.first], names[pair.second]))

    def _skip(self, pair: PlannedPair) -> None:
        if self.test is not None:
            self.test.skip(pair.key)

    def _count(self, game: GameResult) -> str | None:
        self._open[frozenset((game.white, game.black))] -= 1
        score = self.scores.add(game)
        if self.test is not None and game.is_failed_start:
            self.test.skip(pair_key(game.key))  # it says nothing about strength
        if self.test is not None and score is not None:
            self.test.add(pair_key(game.key), score.half_points)
        for name in (game.white, game.black):
            self._failed_starts[name] = self._failed_starts[name] + 1 if _failed(game, name) else 0
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


def _failed(game: GameResult, name: str) -> bool:
    return game.is_failed_start and game.culprit == name


def _not_in_match(key: str) -> str:
    return f"game {visible(key)} is not in this match"


def _of_another_match(key: str, players: tuple[str, str]) -> str:
    return f"game {visible(key)} is from another match: {visible(' and '.join(players))} played it"
