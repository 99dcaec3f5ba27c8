"""The games on the home page's boards: running games of the highest rated players, or a finished one."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.safestring import SafeString

from engines.rules.base import Side
from engines.timecontrol import parse_time_control
from tournament import access
from tournament.caches import cache
from tournament.models import Game, LadderRating, LiveGame
from tournament.views.games.board import PlayerPanel, draw_board, load_replay, player_panels
from tournament.views.games.endings import ending_sentence
from tournament.views.games.replay import replay_of
from tournament.views.paging import LAST_ID, is_whole

BOARDS = 2
MAX_RUNNING = 500
"""Running games that are counted and compared; a site has about as many as its workers have slots."""
END_SECONDS = 20.0
"""How long the end of a game keeps its board."""
_KEPT_SECONDS = 600


@dataclass(frozen=True, slots=True)
class FeaturedGame:
    """A game on a board of the home page."""

    game: Game
    plies: int
    key: str
    """Changes with every move, when the engines are ready, and when the game is begun again."""
    board: SafeString
    top: PlayerPanel
    bottom: PlayerPanel
    ending: str
    """How it ended; empty while it is played."""


def running_games() -> QuerySet[Game]:
    """The games being played that everybody may see; the query starts at the few live games."""
    live = Game.objects.filter(pk__in=LiveGame.objects.values("game"))
    return access.visible_games(access.PUBLIC, live)


def list_running() -> list[Game]:
    """The same in one query, with their ladder, tournament and players alone."""
    rows = running_games().order_by("pk")
    return list(rows.only("ladder", "tournament", "white", "black")[:MAX_RUNNING])


def shown_boards(text: str) -> list[int]:
    """The games that a page shows on its boards, from its address; empty for any other text."""
    parts = text.split(",", BOARDS)[:BOARDS]
    return [int(part) for part in parts if is_whole(part, LAST_ID)]


def feature(running: Sequence[Game], shown: Sequence[int]) -> list[FeaturedGame]:
    """The featured games in the order of the boards; three queries, whatever is running, or four.

    A game of ``shown`` keeps its board until ``END_SECONDS`` after its end. A free board gets the game whose
    players have the highest sum of ratings.
    """
    ended = _just_ended(set(shown).difference(game.pk for game in running))
    if not running and not ended:
        return []
    ratings = ratings_of([*running, *ended])
    chosen = choose(running, shown, ratings, ended)
    live = LiveGame.objects.filter(game__in=chosen).in_bulk()
    games = Game.objects.with_players().select_related("pairing").in_bulk(chosen)
    # A game that has just ended has no moves here, unless it was known; the next poll shows it or another.
    over = {game.pk for game in ended}
    rows = [(games[pk], live.get(pk)) for pk in chosen if pk in games and (pk in live or pk in over)]
    return [_featured(game, row, ratings) for game, row in rows]


def _just_ended(shown: Collection[int]) -> list[Game]:
    if not shown:
        return []
    since = timezone.now() - datetime.timedelta(seconds=END_SECONDS)
    ended = Game.objects.filter(pk__in=shown, finished_at__gt=since, result__isnull=False)
    return list(access.visible_games(access.PUBLIC, ended).only("ladder", "white", "black"))


def choose(
    running: Sequence[Game],
    shown: Sequence[int],
    ratings: Mapping[tuple[str, int], float],
    ended: Sequence[Game] = (),
) -> list[int]:
    """The games of the boards, at most ``BOARDS``; of equal games the one that was scheduled first.

    A ladder that is on no board comes first, because ratings of different ladders do not compare.
    """

    def strength(game: Game) -> float:
        return sum(ratings.get((game.ladder_id, version), 0.0) for version in (game.white_id, game.black_id))

    best = sorted(running, key=lambda game: (-strength(game), game.pk))
    by_pk = {game.pk: game for game in (*best, *ended)}
    boards = [by_pk.get(pk) for pk in dict.fromkeys(shown)][:BOARDS]
    for at in range(BOARDS):
        if at == len(boards):
            boards.append(None)
        if boards[at] is None:
            free = [game for game in best if game not in boards]
            ladders = {game.ladder_id for game in boards if game}
            others = (game for game in free if game.ladder_id not in ladders)
            boards[at] = next(others, next(iter(free), None))
    return [game.pk for game in boards if game]


def feature_finished(game: Game) -> FeaturedGame:
    """A finished game with its final board; ``game`` has its players and its pairing loaded."""
    return _featured(game, None, ratings_of([game]))


def ratings_of(games: Iterable[Game]) -> dict[tuple[str, int], float]:
    """Published ratings by ladder and version."""
    versions = {version for game in games for version in (game.white_id, game.black_id)}
    rows = LadderRating.objects.filter(version__in=versions).values_list("ladder", "version", "conservative")
    return {(ladder, version): rating for ladder, version, rating in rows}


def _featured(game: Game, live: LiveGame | None, ratings: Mapping[tuple[str, int], float]) -> FeaturedGame:
    """The board is drawn once for each move: the cache has one entry a game, because it holds 300."""
    plies = len(live.moves) if live else game.plies
    state = game.state if live is None else "begun" if live.is_begun else ""
    key = f"{game.pk}-{game.attempt or ''}-{plies}-{state}"
    known, drawn = cache.get(f"featured-{game.pk}", ("", None))
    if known != key:
        drawn = _draw(game, live)
        cache.set(f"featured-{game.pk}", (key, drawn), _KEPT_SECONDS)
    board, clocks, side = drawn
    panels = player_panels(game, clocks, side if live else None, live, ratings)
    ending = "" if live else ending_sentence(game)
    return FeaturedGame(game, plies, key, board, panels[Side.BLACK], panels[Side.WHITE], ending)


def _draw(game: Game, live: LiveGame | None) -> tuple[SafeString, dict[Side, str], Side]:
    """What does not change until the next move: the board, the clocks, and who is to move."""
    replay = replay_of(game, None, live) if live else load_replay(game)[0]
    last = replay.step(replay.plies)
    clocks = replay.clocks(replay.plies, parse_time_control(game.tournament.time_control))
    return draw_board(last, players=False, over=live is None), clocks, last.after.side
