"""The games on the home page's boards: running games of the highest rated players, or a finished one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.utils.safestring import SafeString

from engines import svg
from engines.rules.base import Side
from engines.timecontrol import parse_time_control
from tournament import access
from tournament.models import Game, LadderRating, LiveGame
from tournament.views.games.board import PlayerPanel, draw_board, load_replay, player_panels
from tournament.views.games.endings import ending_sentence
from tournament.views.games.replay import BoardStep, Replay, replay_of
from tournament.views.paging import LAST_ID, is_whole

BOARDS = 2
MOST_RUNNING = 500
"""Running games that are counted and compared; a site has about as many as its workers have slots."""
_KEPT_S = 600


@dataclass(frozen=True, slots=True)
class RunningGame:
    """One running game, without its moves."""

    pk: int
    ladder: str
    tournament: int
    white: int
    black: int


@dataclass(frozen=True, slots=True)
class FeaturedSide:
    """A player beside a board, with the published rating; None before the first rated game."""

    panel: PlayerPanel
    rating: float | None


@dataclass(frozen=True, slots=True)
class FeaturedGame:
    """A game on a board of the home page."""

    game: Game
    plies: int
    board: SafeString
    is_wide: bool
    top: FeaturedSide
    bottom: FeaturedSide
    ending: str
    """How the game ended; empty while it is played."""

    @property
    def key(self) -> str:
        """Changes with every move, and when the game is begun again."""
        return _key(self.game, self.plies)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What does not change until the next move."""

    board: SafeString
    is_wide: bool
    clocks: dict[Side, str]
    side: Side


def list_running() -> list[RunningGame]:
    """The games being played that everybody may see; one query, which starts at the few live games."""
    live = Game.objects.filter(pk__in=LiveGame.objects.values("game"))
    rows = access.visible_games(AnonymousUser(), live).order_by("pk")
    fields = ("pk", "ladder", "tournament", "white", "black")
    return [RunningGame(*row) for row in rows.values_list(*fields)[:MOST_RUNNING]]


def shown_boards(text: str) -> list[int]:
    """The games that a page shows on its boards, from its address; empty for any other text."""
    parts = text.split(",", BOARDS)[:BOARDS]
    return [int(part) for part in parts if is_whole(part, LAST_ID)]


def feature(running: Sequence[RunningGame], shown: Sequence[int]) -> list[FeaturedGame]:
    """The featured games in the order of the boards; three queries, whatever is running.

    A game of ``shown`` keeps its board until it ends. A free board gets the game whose players have the
    highest sum of ratings.
    """
    if not running:
        return []
    ratings = _ratings(running)
    chosen = choose(running, shown, ratings)
    live = LiveGame.objects.filter(game__in=chosen).in_bulk()
    games = Game.objects.with_players().select_related("pairing").in_bulk(chosen)
    # A game that has just ended has no moves here; the next poll replaces it.
    return [_live(games[pk], live[pk], ratings) for pk in chosen if pk in live and pk in games]


def choose(
    running: Sequence[RunningGame], shown: Sequence[int], ratings: Mapping[tuple[str, int], float]
) -> list[int]:
    """The games of the boards, at most ``BOARDS``; of equal games the one that was scheduled first.

    A ladder that is on no board comes first, because ratings of different ladders do not compare.
    """

    def strength(game: RunningGame) -> float:
        return sum(ratings.get((game.ladder, version), 0.0) for version in (game.white, game.black))

    best = sorted(running, key=lambda game: (-strength(game), game.pk))
    by_pk = {game.pk: game for game in best}
    boards = [by_pk.get(pk) for pk in dict.fromkeys(shown)][:BOARDS]
    for at in range(BOARDS):
        if at == len(boards):
            boards.append(None)
        if boards[at] is None:
            free = [game for game in best if game not in boards]
            ladders = {game.ladder for game in boards if game}
            boards[at] = next((game for game in free if game.ladder not in ladders), next(iter(free), None))
    return [game.pk for game in boards if game]


def feature_finished(game: Game) -> FeaturedGame:
    """A finished game with its final board; ``game`` has its players and its pairing loaded."""
    drawn: _Drawn | None = cache.get(f"final-board-{game.pk}")
    if drawn is None:
        drawn = _draw(game, load_replay(game)[0])
        cache.set(f"final-board-{game.pk}", drawn, _KEPT_S)
    panels = player_panels(game, drawn.clocks, None, None)
    ratings = _ratings([RunningGame(game.pk, game.ladder_id, 0, game.white_id, game.black_id)])
    return _featured(game, game.plies, drawn, panels, ratings, ending_sentence(game))


def _ratings(games: Iterable[RunningGame]) -> dict[tuple[str, int], float]:
    """Published ratings by ladder and version."""
    versions = {version for game in games for version in (game.white, game.black)}
    rows = LadderRating.objects.filter(version__in=versions)
    return {
        (ladder, version): rating
        for ladder, version, rating in rows.values_list("ladder", "version", "conservative")
    }


def _live(game: Game, live: LiveGame, ratings: dict[tuple[str, int], float]) -> FeaturedGame:
    plies = len(live.moves)
    key, place = _key(game, plies), f"live-board-{game.pk}"  # one entry a game: the cache holds 300
    known, drawn = cache.get(place, ("", None))
    if drawn is None or known != key:
        drawn = _draw(game, replay_of(game, None, live))
        cache.set(place, (key, drawn), _KEPT_S)
    panels = player_panels(game, drawn.clocks, drawn.side, live)
    return _featured(game, plies, drawn, panels, ratings, "")


def _draw(game: Game, replay: Replay) -> _Drawn:
    position, moves = replay.positions[-1], replay.moves
    before = replay.positions[-2] if moves else None
    board = draw_board(BoardStep(moves[-1].token if moves else "", before, position), players=False)
    clocks = replay.clocks(replay.plies, parse_time_control(game.tournament.time_control))
    return _Drawn(board, svg.is_wide(position), clocks, position.side)


def _featured(
    game: Game,
    plies: int,
    drawn: _Drawn,
    panels: dict[Side, PlayerPanel],
    ratings: dict[tuple[str, int], float],
    ending: str,
) -> FeaturedGame:
    top, bottom = (
        FeaturedSide(panels[side], ratings.get((game.ladder_id, panels[side].version.pk)))
        for side in (Side.BLACK, Side.WHITE)
    )
    return FeaturedGame(game, plies, drawn.board, drawn.is_wide, top, bottom, ending)


def _key(game: Game, plies: int) -> str:
    return f"{game.pk}-{game.attempt or ''}-{plies}"
