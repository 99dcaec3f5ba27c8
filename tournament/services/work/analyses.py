"""The analysis of a recorded game by a bot's evaluations of its positions, and who is told of a lost lead."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engines.records import MoveNote, parse_note
from engines.rules.base import Position, Result, Side
from engines.rules.registry import find_game
from tournament import access
from tournament.arithmetic.mistakes import Evaluated, Mistake, find_mistakes, points_by_ply
from tournament.models import BotSearch, BotVersion, Game
from tournament.sentences import isolate, isolated
from tournament.services.feeds import PublishedEvent, path_of, publish

AHEAD: Final = 0.75
"""Expected points of a side that throws a game away if it does not win."""
_POINTS: Final = {Result.WHITE_WINS: 1.0, Result.DRAW: 0.5, Result.BLACK_WINS: 0.0}
"""White's."""


@dataclass(frozen=True, slots=True)
class GameAnalysis:
    """What a complete analysis says of a game."""

    points: Mapping[int, float]
    """White's expected points by the number of moves made; some may be missing."""
    mistakes: Mapping[int, Mistake]
    """The mistakes by ply, in order."""

    def count(self, side: Side, mark: str) -> int:
        """How many moves of a side have this mark."""
        return sum(one.side is side and one.mark == mark for one in self.mistakes.values())


def positions_of(search: BotSearch) -> list[Position]:
    """The positions of the line of a search, from its start on."""
    rules = find_game(search.ladder_id)
    positions: list[Position] = [
        rules.position.parse(search.start) if search.start else rules.position.initial()
    ]
    for token in search.moves.split():
        positions.append(positions[-1].play(token))
    return positions


def evaluations(search: BotSearch, positions: Sequence[Position]) -> list[Evaluated]:
    """What is known so far of its positions, in the order of the plies."""
    found = sorted((int(ply), *said) for ply, said in search.found.items())
    return [
        Evaluated(ply, positions[ply].side, move, parse_note(comment) or MoveNote())
        for ply, move, comment in found
    ]


def read_analysis(search: BotSearch, given: int) -> GameAnalysis:
    """The analysis of a game whose first ``given`` moves are an opening."""
    positions, moves = positions_of(search), search.moves.split()
    outcome = positions[-1].outcome()
    final = {len(moves): _POINTS[outcome.result]} if outcome.decided else {}
    known = evaluations(search, positions)
    points = points_by_ply(known, find_game(search.ladder_id).score_scale, final)
    return GameAnalysis(points, {one.ply: one for one in find_mistakes(known, points, moves, given)})


def tell_thrown_away(search: BotSearch, now: datetime.datetime) -> None:
    """Publish in the owners' feeds which clear lead a complete analysis shows lost; part of a transaction.

    It stays as the first analysis told it.
    """
    game = Game.objects.with_players().select_related("pairing").get(searches=search)
    if (
        game.annulled
        or game.tournament.own_workers
        or not access.may_see_tournament(access.PUBLIC, game.tournament)
    ):
        return
    if access.may_ask(None, search.version.bot):
        publish(_thrown_away(game, search), now)


def _thrown_away(game: Game, search: BotSearch) -> Iterator[PublishedEvent]:
    analysis = read_analysis(search, len(game.pairing.opening_moves))
    for side, own, other in ((Side.WHITE, game.white, game.black), (Side.BLACK, game.black, game.white)):
        lost = [one for one in analysis.mistakes.values() if one.side is side and one.before >= AHEAD]
        if lost and own.bot.owner is not None and game.result != Result.win_for(side):
            yield _event(game, search.version, own, other, lost[-1])


def _event(
    game: Game, judge: BotVersion, own: BotVersion, other: BotVersion, mistake: Mistake
) -> PublishedEvent:
    verb = "drew" if game.result == Result.DRAW else "lost"
    return PublishedEvent(
        f"{path_of(game)}/thrown-away/{mistake.side.name.lower()}",
        f"{isolated(own)} {verb} from {mistake.score} at ply {mistake.ply}",
        f"{game.ladder.name} against {isolated(other)} in {isolate(game.tournament.name)}: by the analysis of"
        f" {isolated(judge)} its expected points fell from {mistake.before:.2f} to {mistake.after:.2f};"
        f" better was {mistake.line[0]}.",
        (own.bot.owner,) if own.bot.owner else (),
        version=own,
        tournament=game.tournament,
        path=f"{game.get_absolute_url()}?ply={mistake.ply}",
        is_repeatable=False,
    )
