"""Crosstables and rating tables as text, for terminals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from engines.rules.base import Result
from tournament.arithmetic.standings import Crosstable, GameScore, Tally, crosstable
from tournament.models import Game, LadderRating, Tournament


def describe_ladder(tournament: Tournament, ladder: str) -> str:
    """A tournament's crosstable on one ladder, and below it the ladder's ratings."""
    names = dict(tournament.entries.order_by("number").values_list("version_id", "version__bot__name"))
    games = Game.objects.counted().filter(tournament=tournament, ladder_id=ladder)
    tallies = [
        Tally(white, black, Result(result or "*"))
        for white, black, result in games.values_list("white_id", "black_id", "result")
    ]
    table = format_crosstable(crosstable(list(names), tallies), names)
    return f"{table}\n\n{format_ratings(LadderRating.objects.table(ladder))}"


def format_crosstable(table: Crosstable, names: Mapping[int, str]) -> str:
    """Ranks, points, and the wins, draws and losses against each opponent."""
    players = [row.player for row in table.rows]
    head = ["", "", "points", *(f"{number}." for number in range(1, len(players) + 1))]
    lines = [
        [f"{row.rank}.", names[row.player], f"{row.score.points:g}/{row.score.games}"]
        + [_versus(row.versus.get(player), row.player == player) for player in players]
        for row in table.rows
    ]
    return format_columns([head, *lines], left=2)


def _versus(score: GameScore | None, itself: bool) -> str:
    if itself:
        return "-"
    return f"+{score.wins} ={score.draws} -{score.losses}" if score else ""


def format_ratings(ratings: Iterable[LadderRating]) -> str:
    """The rows of a ladder's table; ``-`` for a version without a place."""
    head = ["", "", "rating", "mu", "sigma", "games", "won", "drawn", "lost"]
    lines = [
        [
            f"{row.place}." if row.place else "-",
            row.version.bot.name,
            f"{row.conservative:.2f}",
            f"{row.mu:.2f}",
            f"{row.sigma:.2f}",
            *map(str, (row.games, row.wins, row.draws, row.losses)),
        ]
        for row in ratings
    ]
    return format_columns([head, *lines], left=2)


def format_columns(lines: Sequence[Sequence[str]], *, left: int) -> str:
    """Columns two spaces apart; the first ``left`` are aligned to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
