"""Keeps which games of a match have been played, and chooses the next ones. Uses no processes or files.

A ledger can be rebuilt from the games of the record file, in their order; only the voids and lost slots are
not restored.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from engines.visible import visible
from workers.failures import MAX_LOST, MAX_VOIDS
from workers.jobs import BOTH_UNABLE, JobGame
from workers.match.options.options import ROUND_BY_ROUND, MatchOptionError, MatchTerms
from workers.match.plan import Event, PlannedPair, count_games, pair_key, plan_pairs
from workers.match.results import GameResult, Scores, TableRow, rank_rows
from workers.sequential import SequentialTest


class Ledger:
    """An engine is withdrawn after ``withdraw_after`` forfeits in a row; 0 is never."""

    def __init__(self, terms: MatchTerms, withdraw_after: int = 0) -> None:
        self.terms = terms
        self.scores = Scores([engine.name for engine in terms.entrants])
        self.done = 0
        """Games with a result."""
        self.halted: dict[str, str] = {}
        """The keys of games that were given up, with the reason."""
        self.withdrawn: list[str] = []
        self.failed_starts: Counter[str] = Counter()
        """The games in a row that each engine forfeited before any move was chosen."""
        self._in_a_row: Counter[str] = Counter()
        self._withdraw_after = withdraw_after
        order = (pair.key for pair in plan_pairs(terms))
        self.test = None if terms.sprt is None else SequentialTest(terms.sprt, order)
        self._event = Event(terms, self.withdrawn) if terms.format in ROUND_BY_ROUND else None
        self._plan: Iterator[PlannedPair | None] = (
            plan_pairs(terms) if self._event is None else self._event.pairs()
        )
        self.running = 0
        """Games that slots are playing or will play next."""
        self._waiting = count_games(terms) if self._event is None else Counter[frozenset[str]]()
        """The games of each two engines that are not running, not over and not given up; of an event
        those due."""
        self._planned = self._waiting.total()
        self._returned: deque[PlannedPair] = deque()
        """Played before the rest of the plan."""
        self._voids: Counter[str] = Counter()
        self._lost: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """The games of the match, as far as they are known."""
        return self._planned if self._event is None else self._event.total

    @property
    def event_lines(self) -> list[str]:
        """The bracket of a knock-out, or the points of a Swiss event; empty for other formats."""
        return [] if self._event is None else list(self._event.lines())

    def rows(self, ladders: Sequence[str]) -> list[TableRow]:
        """The table of these ladders, the best first."""
        event = self._event
        earned, points = ({}, {}) if event is None else (event.earned(ladders), event.points(ladders))
        return rank_rows(self.scores, ladders, self.withdrawn, earned, points)

    @property
    def is_decided(self) -> bool:
        """Whether there is a sequential test and it is decided."""
        return self.test is not None and self.test.is_decided

    @property
    def left_out(self) -> int:
        """The number of games that will not be played because an engine was withdrawn."""
        return sum(games for two, games in self._waiting.items() if not two.isdisjoint(self.withdrawn))

    @property
    def left(self) -> int:
        """The number of games still to be played, including the running ones."""
        return self.total - self.done - len(self.halted) - self.left_out

    def restore(self, games: Iterable[GameResult]) -> None:
        """Add the games of an earlier run, in the order of their record file. Call this first.

        Raises ``MatchOptionError`` for a game that is not in this match, or that occurs twice.
        """
        games, known = list(games), set[str]()
        if self._event is not None:
            self._event.expect((one.key, frozenset((one.white, one.black))) for one in games)
        open_pairs: dict[str, PlannedPair] = {}
        for result in games:
            if result.is_void and self._event is None:
                continue  # a game that was given up is played again
            if result.key in known:
                raise MatchOptionError(f"game {result.key} is in the record file twice")
            known.add(result.key)
            pair = self._find_planned(result.key, open_pairs)
            game = None if pair is None else next((one for one in pair.games if one.key == result.key), None)
            if pair is None or game is None:
                raise MatchOptionError(
                    f"game {visible(result.key)} is not in this match: it has other games or fewer rounds"
                )
            if (result.ladder, result.white, result.black) != (pair.ladder, *pair.players(game)):
                players = visible(f"{result.white} and {result.black}")
                raise MatchOptionError(f"game {result.key} is from another match: {players} played it")
            open_pairs[pair.key] = replace(pair, games=tuple(one for one in pair.games if one is not game))
            if not open_pairs[pair.key].games:
                del open_pairs[pair.key]
            self._waiting[pair.engines] -= 1
            if result.is_void:
                self._give_up(pair, game, "it was given up before")
            else:
                self._count(result)
        self._returned.extend(open_pairs.values())

    def _find_planned(self, key: str, open_pairs: dict[str, PlannedPair]) -> PlannedPair | None:
        """The planned pair with this game; the pairs up to it, which are open, are added to ``open_pairs``.

        None if there is none. Pairs of withdrawn engines are left out if later ones of an event need that.
        """
        wanted = pair_key(key)
        while wanted and wanted not in open_pairs:
            if (pair := self._next_planned()) is not None:
                open_pairs[pair.key] = pair
                continue
            left_out = [one for one in open_pairs.values() if not one.engines.isdisjoint(self.withdrawn)]
            if self._event is None or not left_out:
                return None
            for one in left_out:
                self._leave_out(open_pairs.pop(one.key))
        return open_pairs.get(wanted)

    def next_pair(self) -> PlannedPair | None:
        """The pair to play next, now counted as running; None if no game can be started now."""
        while not self.is_decided and (pair := self._next_planned()) is not None:
            if pair.engines.isdisjoint(self.withdrawn):
                self._waiting[pair.engines] -= len(pair.games)
                self.running += len(pair.games)
                return pair
            self._leave_out(pair)
        return None

    def _next_planned(self) -> PlannedPair | None:
        if self._returned:
            return self._returned.popleft()
        pair = next(self._plan, None)
        if pair is not None and self._event is not None:
            self._waiting[pair.engines] += len(pair.games)
        return pair

    def record(self, game: GameResult) -> str | None:
        """Count the result of a running game; returns the name of an engine that is withdrawn for it."""
        self.running -= 1
        return self._count(game)

    def void(self, pair: PlannedPair, game: JobGame, evidence: str) -> bool:
        """Count a void of a running game; returns whether the game is given up now."""
        self._voids[game.key] += 1
        is_hopeless = evidence.startswith(BOTH_UNABLE)
        if is_hopeless:
            for name in pair.players(game):
                self._count_forfeit(name)
        is_given_up = is_hopeless or self._voids[game.key] >= MAX_VOIDS
        self._return(pair, [game], evidence if is_given_up else "")
        return is_given_up

    def give_back(self, pair: PlannedPair, games: list[JobGame], *, lost: bool) -> None:
        """Return running games that were not finished; ``lost``: because their slot ended unexpectedly."""
        first = games[0].key
        self._lost[first] += lost
        too_often = "its slot ended unexpectedly too often"
        self._return(pair, games, too_often if self._lost[first] >= MAX_LOST else "")

    def _return(self, pair: PlannedPair, games: list[JobGame], why_not: str) -> None:
        """Games are played later; if there is a reason why not, the first one is given up."""
        self.running -= len(games)
        if why_not:
            self._give_up(pair, games[0], why_not)
            games = games[1:]
        self._waiting[pair.engines] += len(games)
        if games:
            self._returned.append(replace(pair, games=tuple(games)))

    def _give_up(self, pair: PlannedPair, game: JobGame, why: str) -> None:
        self.halted[game.key] = why
        self._end_without_result(pair, [game], 1)

    def _leave_out(self, pair: PlannedPair) -> None:
        """The games of a withdrawn engine go to its opponent."""
        first, second = (name in self.withdrawn for name in (pair.first, pair.second))
        self._end_without_result(pair, pair.games, 1 if first and second else 0 if first else 2)

    def _end_without_result(self, pair: PlannedPair, games: Iterable[JobGame], points: int) -> None:
        """A test skips the pair; in an event its first player gets so many half points for each game."""
        if self.test is not None:
            self.test.skip(pair.key)
        if self._event is not None:
            for game in games:
                self._event.add(game.key, points)

    def _count(self, game: GameResult) -> str | None:
        self.done += 1
        score = self.scores.add(game)
        if self._event is not None:
            self._event.add(game.key, game.half_points(self._event.first_of(game.key)))
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
