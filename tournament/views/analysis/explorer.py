"""The explorer: beside the analysis board, the moves that recorded games played in its position."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from engines import book
from engines.rules.base import Position
from engines.rules.registry import Variant
from engines.visits import PLIES
from tournament.services.explorer.book import find_book
from tournament.services.explorer.moves import FILTERS, ExploredMove, explore
from tournament.views.analysis.board import answer_page, find_ladder
from tournament.views.analysis.trees import ShownTree
from tournament.views.downloads import TEXT_TYPE, attached
from tournament.views.ladders.drawings import draw_results
from tournament.views.links import games_address
from tournament.views.paging import LAST_ID, whole_number
from tournament.views.polling import PART
from tournament.views.requests import fresh_buttons, takes_get_and_post


@dataclass(frozen=True, slots=True)
class ExploredRow:
    """A move with the drawing of its row."""

    move: ExploredMove
    games: str = ""
    """The address of the list of its games; empty for a filter that the list does not have."""
    is_given: bool = False
    """Whether the move belongs to the opening of its last game."""

    @property
    def drawing(self) -> SafeString:
        return draw_results({"white": self.move.wins, "drawn": self.move.draws, "black": self.move.losses})

    @property
    def shares(self) -> str:
        """In per cent: White's wins, draws, Black's wins."""
        counts = (self.move.wins, self.move.draws, self.move.losses)
        return " / ".join(f"{100 * count / max(1, self.move.games):.0f}" for count in counts)

    @property
    def performance(self) -> str:
        elo = self.move.performance
        return "–" if elo is None else f"{elo:+d}".replace("-", "−")


@dataclass(frozen=True, slots=True)
class Explored:
    """What the table shows."""

    rows: list[ExploredRow]
    all: ExploredRow
    others: int
    chosen: str
    """The word of the filter."""
    symmetries: int
    is_over: bool
    plies: int = PLIES

    @property
    def has_given(self) -> bool:
        return any(row.is_given for row in self.rows)

    @property
    def filters(self) -> list[tuple[str, str]]:
        """The filters with their labels."""
        labels = {"": "all games", "rated": "rated games"}
        return [(word, labels.get(word, f"rated {word} or more on average")) for word in FILTERS]


MAX_BOOK_PLIES = 16
"""The most plies of the openings of a book."""


@csrf_exempt  # as on the analysis board
@fresh_buttons
@takes_get_and_post
@vary_on_headers(PART)
def explorer(request: HttpRequest, code: str) -> HttpResponse:
    """The analysis board with the explorer; a script gets the table alone."""
    return answer_page(
        request,
        code,
        name="explorer",
        more=lambda shown: {"explored": _explored(request, shown)},
        part="analysis/pieces/explored.html",
    )


@require_safe
def explorer_book(request: HttpRequest, code: str) -> HttpResponse:
    """The balanced openings of the ladder as a book, for the match runner and for tournaments."""
    game = find_ladder(code)
    plies = whole_number(request, "plies", book.PLIES, most=MAX_BOOK_PLIES)
    least = whole_number(request, "games", book.LEAST_GAMES, most=LAST_ID)
    balance = whole_number(request, "balance", book.BALANCE, most=50)
    openings = find_book(code, plies, max(1, least), balance, book.MOST)
    return attached(book.format_book(game, openings), f"{code}-book.txt", TEXT_TYPE)


def _explored(request: HttpRequest, shown: ShownTree) -> Explored:
    game, position = shown.game, shown.line.position
    values = request.POST if request.method == "POST" else request.GET
    word = values.get("games", "")
    chosen = word if word in FILTERS else ""
    found = explore(game.code, position, FILTERS[chosen])
    ply = _ply(request, shown)

    return Explored(
        [
            ExploredRow(move, _games(game, position, chosen, move.token), is_given=_is_given(move, ply))
            for move in found.moves
        ],
        ExploredRow(found.total),
        found.others,
        chosen,
        len(position.symmetries()),
        position.outcome().decided,
    )


def _ply(request: HttpRequest, shown: ShownTree) -> int:
    """The moves before the position; a script tells it. More than any opening has if that is not known."""
    return whole_number(request, "ply", PLIES, most=LAST_ID) if shown.start else len(shown.line.moves)


def _is_given(move: ExploredMove, ply: int) -> bool:
    return move.last is not None and ply < len(move.last.pairing.opening_moves)


def _games(game: Variant, position: Position, chosen: str, token: str) -> str:
    if FILTERS[chosen] > 0:
        return ""
    rated = "yes" if chosen else None
    return games_address(ladder=game.code, position=position, move=token, rated=rated, annulled="no")
