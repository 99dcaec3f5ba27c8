"""What of a match has been played, and what is to be played next. Sees neither processes nor files.

The record file holds all of it but the reasons why a game was not played: fed its games in their order, a
ledger comes to the same state.
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
    """``withdraw_after`` is the number of forfeits in a row that ends an engine's part; 0 never does."""

    def __init__(self, terms: MatchTerms, withdraw_after: int = 0) -> None:
        self.terms = terms
        self._open = Counter(
            {
                frozenset(terms.entrants[place].name for place in two): games
                for two, games in count_games(terms).items()
            }
        )
        """Games of each two that have no result and were not given up."""
        self._running: Counter[frozenset[str]] = Counter()
        self.total = sum(self._open.values())
        self.done = 0
        """Games with a result."""
        self.withdrawn: list[str] = []
        self.halted: dict[str, str] = {}
        """Games given up, and why."""
        self.scores = Scores([entrant.name for entrant in terms.entrants])
        order = (pair.key for pair in plan_pairs(terms))
        self.test = None if terms.sprt is None else SequentialTest(terms.sprt, order)
        self._withdraw_after = withdraw_after
        self._in_a_row: Counter[str] = Counter()
        self._plan = plan_pairs(terms)
        self._again: deque[PlannedPair] = deque()
        self._played: set[str] = set()
        self._voids: Counter[str] = Counter()
        self._lost: Counter[str] = Counter()

    @property
    def is_decided(self) -> bool:
        """Whether a test has found its answer."""
        return self.test is not None and self.test.is_decided

    @property
    def running(self) -> int:
        """Games given out."""
        return self._running.total()

    @property
    def left_out(self) -> int:
        """Games that will not be played, because an engine was withdrawn."""
        return sum(
            games - self._running[two]
            for two, games in self._open.items()
            if not two.isdisjoint(self.withdrawn)
        )

    @property
    def left(self) -> int:
        """Games still to be played, those under way included."""
        return sum(self._open.values()) - self.left_out

    def restore(self, games: Iterable[GameResult]) -> None:
        """Take over games played before, in the order of their record file, before anything else.

        Raises ``MatchOptionError`` for a game that is not of this match, or that is there twice.
        """
        found: dict[str, tuple[str, str]] = {}
        for game in games:
            players = (game.white, game.black)
            if game.key in found:
                raise MatchOptionError(f"game {game.key} stands twice in the record file")
            if not is_game_key(game.key, game.ladder):
                raise MatchOptionError(_of_no_match(game.key))
            if not set(players) <= set(self.scores.names):
                raise MatchOptionError(_of_another_match(game.key, players))
            if not game.is_void:  # one given up is tried again
                found[game.key] = players
                self.done += 1
                self._count(game)
        self._check_players(found)
        self._played = set(found)

    def _check_players(self, played: Mapping[str, tuple[str, str]]) -> None:
        """Whether each game, by its key, is one of the plan, between these two."""
        found = dict(played)
        for pair in plan_pairs(self.terms):
            if not found:
                return
            for game in pair.games:
                players = found.pop(game.key, None)
                if players is not None and players != self.players(pair, game):
                    raise MatchOptionError(_of_another_match(game.key, players))
        if found:
            raise MatchOptionError(_of_no_match(min(found)))

    def next_pair(self) -> PlannedPair | None:
        """What to play now, or None when nothing is left to begin."""
        if self.is_decided:
            return None
        pair = self._next_again() or self._next_planned()
        if pair is not None:
            self._running[self._two(pair)] += len(pair.games)
        return pair

    def players(self, pair: PlannedPair, game: JobGame) -> tuple[str, str]:
        """White's name and Black's."""
        names = self.scores.names
        return names[pair.white_of(game)], names[pair.black_of(game)]

    def record(self, game: GameResult) -> str | None:
        """A running game has its result; returns the name of an engine that is withdrawn for it."""
        self._running[frozenset((game.white, game.black))] -= 1
        self.done += 1
        return self._count(game)

    def void(self, pair: PlannedPair, game: JobGame, evidence: str) -> bool:
        """A running game could not be played; returns whether it is given up."""
        self._voids[game.key] += 1
        hopeless = evidence.startswith(BOTH_UNABLE)
        if hopeless:
            for name in self.players(pair, game):
                self._hold_against(name)
        return self._back(pair, [game], evidence, give_up=hopeless or self._voids[game.key] >= MAX_VOIDS)

    def give_back(self, pair: PlannedPair, games: list[JobGame], *, lost: bool) -> None:
        """Running games that were not finished; ``lost`` when nobody asked for that."""
        if lost:
            self._lost[games[0].key] += 1
        self._back(
            pair, games, "the slot ended again and again", give_up=self._lost[games[0].key] >= MAX_LOST
        )

    def _back(self, pair: PlannedPair, games: list[JobGame], why: str, *, give_up: bool) -> bool:
        self._running[self._two(pair)] -= len(games)
        if give_up:
            self._open[self._two(pair)] -= 1
            self.halted[games[0].key] = why
            self._skip(pair)
            games = games[1:]
        if games:
            self._again.append(replace(pair, games=tuple(games)))
        return give_up

    def _next_again(self) -> PlannedPair | None:
        while self._again:
            pair = self._again.popleft()
            if not self._leave_out(pair):
                return pair
        return None

    def _next_planned(self) -> PlannedPair | None:
        for pair in self._plan:
            open_games = tuple(game for game in pair.games if game.key not in self._played)
            self._played.difference_update(game.key for game in pair.games)
            if open_games and not self._leave_out(replaced := replace(pair, games=open_games)):
                return replaced
        return None

    def _leave_out(self, pair: PlannedPair) -> bool:
        """Whether one of the two has been withdrawn: then a test waits for the pair no longer."""
        if self._two(pair).isdisjoint(self.withdrawn):
            return False
        self._skip(pair)
        return True

    def _two(self, pair: PlannedPair) -> frozenset[str]:
        names = self.scores.names
        return frozenset((names[pair.first], names[pair.second]))

    def _skip(self, pair: PlannedPair) -> None:
        if self.test is not None:
            self.test.skip(pair.key)

    def _count(self, game: GameResult) -> str | None:
        self._open[frozenset((game.white, game.black))] -= 1
        score = self.scores.add(game)
        if self.test is not None and score is not None:
            self.test.add(pair_key(game.key), score.half_points)
        for name in (game.white, game.black):
            if name != game.culprit:
                self._in_a_row[name] = 0
        return None if game.culprit is None else self._hold_against(game.culprit)

    def _hold_against(self, name: str) -> str | None:
        """One more forfeit in a row; returns the name if the engine is withdrawn for it."""
        self._in_a_row[name] += 1
        if name in self.withdrawn or self._in_a_row[name] != self._withdraw_after:
            return None
        self.withdrawn.append(name)
        return name


def _of_no_match(key: str) -> str:
    return f"game {visible(key)} is none of this match"


def _of_another_match(key: str, players: tuple[str, str]) -> str:
    return f"game {visible(key)} of another match: {visible(' and '.join(players))} played it"
