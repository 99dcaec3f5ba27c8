"""Tables from games alone, computed by hand."""

from __future__ import annotations

from engines.formats import FORMATS
from engines.formats.base import RoundTerms
from engines.formats.meetings import ScheduledGame, count_meetings
from engines.formats.tables import EventTable, event_table
from engines.pairing.knockout import Length

COLUMNS = {"+": "wins", "=": "draws", "-": "losses", "x": "annulled"}


def table(kind: str, players: str, *games: str, absent: dict[int, set[int]] | None = None) -> EventTable:
    """Games as ``1 ab+``: the round, White, Black, how it counts for White; players in order as ``abc``."""
    ids = {name: pk for pk, name in enumerate("abcdef", 1)}
    rows = [ScheduledGame(int(game[0]), ids[game[2]], ids[game[3]], COLUMNS[game[4]]) for game in games]
    form = FORMATS[kind]
    rounds = RoundTerms(5, Length(1, 0), absent or {}) if form.is_staged else None
    return event_table(form, [ids[name] for name in players], count_meetings(form, rows), rounds)


def rows(found: EventTable, kind: str, players: str) -> list[str]:
    """Rank, player and points, in the order of the standings."""
    ids = [1 + "abcdef".index(name) for name in players]
    ranked = FORMATS[kind].ranked_rows(found.crosstable, ids)
    return [f"{rank} {'abcdef'[row.player - 1]} {row.points}" for rank, row in ranked]


def test_a_round_robin_orders_its_players_by_points() -> None:
    found = table("round-robin", "abc", "1 ab+", "1 ba+", "2 bc+", "2 cb-", "3 ca=", "3 ac=")
    assert rows(found, "round-robin", "abc") == ["1 b 3.0", "2 a 2.0", "3 c 1.0"]
    assert (found.met, found.bracket) == ([], [])


def test_the_challenger_of_a_gauntlet_has_no_rank() -> None:
    found = table("gauntlet", "abc", "1 ab+", "1 ba=", "2 ac-", "2 ca+")
    assert rows(found, "gauntlet", "abc") == ["None a 1.5", "1 c 2.0", "2 b 0.5"]


def test_a_swiss_counts_byes_and_the_points_of_opponents() -> None:
    found = table("swiss", "abc", "1 ab+", "1 ba-", "2 ca-", "2 ac+", absent={2: {2}})
    first, second, third = found.crosstable.rows
    assert (first.player, first.points, first.byes, first.buchholz) == (1, 4.0, 0, 2.0)
    assert (second.player, second.points, second.byes, second.buchholz) == (3, 2.0, 1, 6.0)
    assert (third.player, third.points, third.byes, third.buchholz) == (2, 0.0, 0, 4.0)


def test_a_knock_out_orders_its_players_by_the_matches_that_they_won() -> None:
    found = table("knock-out", "dcba", "1 ad=", "1 da=", "1 bc+", "1 cb-", "2 db-", "2 bd=")
    assert rows(found, "knock-out", "dcba") == ["1 b 3.5", "2 d 1.5", "3 c 0.0", "3 a 1.0"]
    (upper, lower), (final,) = found.bracket
    assert (upper.winner, upper.note) == (1, "level, so the better seed advances")
    assert (lower.winner, final.winner, final.note) == (3, 3, "")
