"""The results of each two players of tournaments, counted from the games one by one."""

from __future__ import annotations

from collections import Counter

from tournament.models import Game, MeetingScore

Row = tuple[str, str, int, int, int]
"""The tournament, the ladder, the round or 0, and both versions, the lower id first."""
COLUMNS = ("wins", "draws", "losses", "given_up", "walkovers", "defaults", "annulled")
SWAPPED = {"wins": "losses", "losses": "wins", "walkovers": "defaults", "defaults": "walkovers"}


def recounted() -> dict[Row, Counter[str]]:
    """The numbers that there should be."""
    rows: dict[Row, Counter[str]] = {}
    for game in Game.objects.select_related("tournament", "pairing"):
        form, (one, other) = game.tournament.format, sorted((game.white_id, game.black_id))
        column = _column(game)
        if form.has_places and (column or form.is_staged):
            number = game.pairing.round if form.is_staged else 0
            row = rows.setdefault((game.tournament.slug, game.ladder_id, number, one, other), Counter())
            row[column if game.white_id == one else SWAPPED.get(column, column)] += bool(column)
    return rows


def _column(game: Game) -> str:
    """Where the game counts for White; empty if it is not over."""
    if game.state not in {Game.State.DONE, Game.State.HALTED}:
        return ""
    if game.annulled:
        return "annulled"
    if game.result:
        return {"1-0": "wins", "1/2-1/2": "draws", "0-1": "losses"}[game.result]
    return {"white": "defaults", "black": "walkovers"}.get(game.fault, "given_up")


def stored() -> dict[Row, Counter[str]]:
    """The numbers that there are; without rounds, meetings without games have none."""
    found = {}
    for row in MeetingScore.objects.select_related("tournament"):
        numbers = Counter({name: getattr(row, name) for name in COLUMNS})
        if row.round or any(numbers.values()):
            found[row.tournament.slug, row.ladder_id, row.round, row.one_id, row.other_id] = numbers
    return found


def check_scores() -> None:
    """Every stored number is that of the games."""
    assert stored() == recounted()
