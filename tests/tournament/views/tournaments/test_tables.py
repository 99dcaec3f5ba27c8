"""A tournament's tables: winners, gauntlets, the time that is left, and the same tables as CSV and JSON."""

from __future__ import annotations

import csv
import datetime
import html
import io
import re
from collections.abc import Sequence
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from engines.arithmetic.standings import Criterion, GameScore, StandingsRow
from engines.rules.base import Result
from tests.support.filled_site import LADDER, LogIn, Site, add_version, decide_games, round_robin
from tests.support.schedule import make_event, make_worker
from tournament.models import BotVersion, Game, Tournament
from tournament.services.calendar import tend
from tournament.services.results.withdrawal import withdraw
from tournament.services.schedule.tournaments import cancel, pause, start
from tournament.views.tournaments import standings, tables

State = Tournament.State


@pytest.fixture
def bots(site: Site) -> list[BotVersion]:
    Tournament.objects.exclude(state=State.DRAFT).update(state=State.CANCELLED)
    return [add_version(site.owner, f"Bot {number}") for number in range(1, 5)]


def event(kind: str, bots: Sequence[BotVersion], **terms: Any) -> Tournament:
    return make_event(kind, versions=bots, ladders=[LADDER], name="Cup", **terms)


def page_of(client: Client, tournament: Tournament) -> str:
    return " ".join(client.get(tournament.get_absolute_url()).content.decode().split())


def named(client: Client, tournament: Tournament) -> list[tuple[str, list[str], str]]:
    found = client.get(tournament.get_absolute_url()).context["winners"]
    return [(won.title, [version.bot.name for version in versions], won.note) for _, won, versions in found]


@pytest.mark.parametrize("kind", ["round-robin", "swiss", "knock-out"])
def test_the_champion_of_a_finished_tournament_is_named_above_its_tables(
    bots: list[BotVersion], client: Client, kind: str
) -> None:
    cup = event(kind, bots)
    assert named(client, cup) == []
    decide_games(cup)
    ((title, names, _),) = named(client, cup)
    assert (title, names) == ("Champion", ["Bot 1"])
    page = page_of(client, cup)
    assert page.index("Champion:") < page.index("<table")


def test_a_shared_first_place_names_all_who_share_it(bots: list[BotVersion], client: Client) -> None:
    cup = decide_games(event("round-robin", bots), lambda game: Result.DRAW)
    assert named(client, cup) == [("Shared first place", ["Bot 1", "Bot 2", "Bot 3", "Bot 4"], "3 points")]


def test_the_winner_of_a_level_final_is_the_better_seed(bots: list[BotVersion], client: Client) -> None:
    cup = decide_games(event("knock-out", bots), lambda game: Result.DRAW)
    assert named(client, cup) == [("Champion", ["Bot 1"], "better seed in a level final")]


@pytest.mark.parametrize("state", [State.RUNNING, State.CANCELLED, State.HALTED])
def test_a_tournament_that_is_not_finished_has_no_champion(
    bots: list[BotVersion], client: Client, state: State
) -> None:
    cup = decide_games(event("round-robin", bots))
    Tournament.objects.filter(pk=cup.pk).update(state=state)
    assert named(client, cup) == []


def test_the_challenger_of_a_gauntlet_stands_apart_from_its_opponents(
    bots: list[BotVersion], client: Client
) -> None:
    def result(game: Game) -> Result:
        other = {game.white.bot.name, game.black.bot.name} - {"Bot 1"}
        if other == {"Bot 3"}:
            return Result.WHITE_WINS if game.white.bot.name == "Bot 3" else Result.BLACK_WINS
        return Result.DRAW

    cup = decide_games(event("gauntlet", bots), result)
    (cross,) = client.get(cup.get_absolute_url()).context["crosses"]
    assert (cross.challenger.name[1:6], cross.challenger.points, cross.challenger.of) == ("Bot 1", "2", 6)
    assert [cell.points for cell in cross.challenger.cells] == ["0", "1", "1"]
    rows = [(row.rank, row.version.bot.name, row.points, row.of, row.performance > 0) for row in cross.rows]
    assert rows == [(1, "Bot 3", "2", 2, True), (2, "Bot 2", "1", 2, False), (2, "Bot 4", "1", 2, False)]
    assert all("opponent=bot-1" in row.cells[0].address for row in cross.rows)
    assert named(client, cup) == [("Challenger", ["Bot 1"], "2 of 6 points against 3 opponents")]


def test_a_large_gauntlet_shows_the_challenger_without_its_meetings(
    bots: list[BotVersion], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tournament.views.tournaments.tournaments.MAX_CROSSED", 2)
    (cross,) = client.get(event("gauntlet", bots).get_absolute_url()).context["crosses"]
    assert cross.challenger.cells == []
    assert len(cross.rows) == 3


def progress(client: Client, tournament: Tournament) -> str:
    return str(client.get(tournament.get_absolute_url()).context["progress"])


def test_a_running_tournament_shows_the_time_that_is_left(bots: list[BotVersion], client: Client) -> None:
    cup = event("round-robin", bots)
    assert progress(client, cup) == "No worker plays games at the moment."
    make_worker(slots=2)
    games = list(cup.games.order_by("id"))
    now = timezone.now()
    for number, game in enumerate(games[:2], start=100):
        times = {"started_at": now - datetime.timedelta(seconds=99.7), "finished_at": now}
        Game.objects.filter(pk=game.pk).update(
            state=Game.State.DONE, result=Result.DRAW, sequence=number, **times
        )
    Tournament.objects.filter(pk=cup.pk).update(games_done=2)
    assert progress(client, cup) == "About 8 minutes left."  # 10 games of 100 seconds, two at a time
    other = round_robin(None, "Other", bots)
    start(other)
    assert progress(client, cup) == "About 17 minutes left."  # they take turns
    for name in ("Hers", "Hers again"):  # her two take turns, and she with the owner of the others
        start(round_robin(bots[0].bot.owner, name, bots))
    assert progress(client, cup) == "About 33 minutes left."
    Tournament.objects.filter(pk=cup.pk).update(priority=1)
    assert progress(client, cup) == "About 8 minutes left."


def test_the_time_left_of_a_staged_tournament_includes_the_rounds_to_come(
    bots: list[BotVersion], client: Client
) -> None:
    make_worker(slots=1)
    swiss, cup = event("swiss", bots), event("knock-out", bots)
    Tournament.objects.filter(pk=cup.pk).update(priority=1)
    seconds = [client.get(one.get_absolute_url()).context["progress"] for one in (swiss, cup)]
    assert seconds[0].startswith("Round 1 of 3. About")
    assert seconds[1].startswith("Round 1 of 2. At least")
    assert "No worker" not in "".join(seconds)


def test_a_staged_tournament_counts_the_games_of_all_its_rounds(
    bots: list[BotVersion], client: Client
) -> None:
    swiss, cup = event("swiss", bots), event("knock-out", bots)
    assert (swiss.games_total, cup.games_total) == (4, 4)  # only the first round is drawn
    for one, shown in ((swiss, "0 of 12"), (cup, "0 of at least 6")):
        page = page_of(client, one)
        assert f"{shown} games</span>" in page
        assert f'max="{shown.split()[-1]}"' in page
        assert f"{shown}<" in client.get("/tournaments/").content.decode()
    decide_games(swiss)
    assert "12 of 12 games</span>" in page_of(client, swiss)
    cancel(cup)
    assert progress(client, cup) == "Cancelled with 6 games not played."


def test_the_round_of_a_staged_tournament_is_the_one_drawn_last(
    bots: list[BotVersion], client: Client
) -> None:
    cup, shown = event("swiss", bots), set[tuple[int, str]]()

    def drawn(game: Game) -> Result:
        shown.add((game.pairing.round, progress(client, cup).partition(".")[0]))
        return Result.DRAW

    decide_games(cup, drawn)
    assert shown == {(number, f"Round {number} of 3") for number in (1, 2, 3)}


def test_a_tournament_that_is_not_played_says_so_instead_of_a_time(
    bots: list[BotVersion], client: Client, site: Site
) -> None:
    make_worker()
    cup = event("round-robin", bots)
    pause(cup)
    assert progress(client, cup) == "Paused with 12 games left."
    cancel(cup)
    assert progress(client, cup) == "Cancelled with 12 games not played."
    done = decide_games(event("gauntlet", bots[:2]))
    assert progress(client, done) == "Played in a few seconds."
    began = done.finished_at - datetime.timedelta(minutes=12)  # type: ignore[operator]
    Tournament.objects.filter(pk=done.pk).update(started_at=began)
    assert progress(client, done) == "Played in 12 minutes."


def test_a_tournament_without_games_has_neither_an_estimate_nor_a_bar(site: Site, as_user: LogIn) -> None:
    site.draft.entries.exclude(number=1).delete()
    site.draft.games.all().delete()
    Tournament.objects.filter(pk=site.draft.pk).update(games_total=0)
    page = as_user(site.owner).get(site.draft.get_absolute_url())
    assert page.context["progress"] == "The games are made at the start."
    text = page.content.decode()
    assert "No games: fewer than two of the bots play the same ladder." in text
    assert "0 games" not in text
    assert "<progress" not in text


def read_csv(client: Client, address: str) -> list[dict[str, str]]:
    response = client.get(address)
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(response.content.decode())))


@pytest.mark.parametrize("name", ["standings", "crosstable"])
def test_the_files_hold_the_same_table_as_csv_and_json(
    bots: list[BotVersion], client: Client, name: str
) -> None:
    row_types = {"standings": tables.StandingRow, "crosstable": tables.CrosstableRow}
    cup = decide_games(event("round-robin", bots))
    rows = read_csv(client, f"/tournaments/{cup.slug}/{name}.csv")
    answer = client.get(f"/tournaments/{cup.slug}/{name}.json").json()
    assert (answer["tournament"], answer["state"]) == (cup.slug, "finished")
    texts = [{key: "" if value is None else str(value) for key, value in row.items()} for row in answer[name]]
    assert rows == texts
    assert tuple(rows[0]) == row_types[name].__struct_fields__
    page = page_of(client, cup)
    assert f'href="/tournaments/{cup.slug}/{name}.csv?ladder={LADDER}"' in page
    assert f'href="/tournaments/{cup.slug}/{name}.json?ladder={LADDER}"' in page


def test_the_standings_have_a_column_for_each_criterion_that_pages_show() -> None:
    criteria = {one.name.lower() for one in Criterion if one.heading}
    assert criteria <= set(tables.StandingRow.__struct_fields__)


def test_the_files_agree_with_the_page(bots: list[BotVersion], client: Client) -> None:
    cup = decide_games(event("round-robin", bots))
    standings = client.get(f"/tournaments/{cup.slug}/standings.json").json()["standings"]
    (cross,) = client.get(cup.get_absolute_url()).context["crosses"]
    listed = [(row["rank"], row["bot"], row["points"], row["rating"]) for row in standings]
    assert listed == [(row.rank, row.version.bot.name, float(row.points), row.rating) for row in cross.rows]
    meetings = client.get(f"/tournaments/{cup.slug}/crosstable.json").json()["crosstable"]
    assert len(meetings) == 4 * 3
    assert sum(one["points"] for one in meetings) == 12


def test_the_challenger_comes_first_in_the_files_without_a_rank(
    bots: list[BotVersion], client: Client
) -> None:
    cup = decide_games(event("gauntlet", list(reversed(bots))), lambda game: Result.DRAW)
    standings = client.get(f"/tournaments/{cup.slug}/standings.json").json()["standings"]
    assert [(row["bot"], row["rank"]) for row in standings][:2] == [("Bot 4", None), ("Bot 3", 1)]


def pairings_of(client: Client, tournament: Tournament, query: str = "") -> list[dict[str, Any]]:
    answer = client.get(f"/tournaments/{tournament.slug}/pairings.json{query}").json()
    return list(answer["pairings"])


def test_the_pairings_of_a_swiss_are_those_of_all_its_rounds_with_their_byes(
    bots: list[BotVersion], client: Client
) -> None:
    cup = decide_games(event("swiss", bots[:3]))
    rows = pairings_of(client, cup)
    assert tuple(rows[0]) == tables.PairingRow.__struct_fields__
    assert [(row["round"], row["note"]) for row in rows] == [
        (number, note) for number in (1, 2, 3) for note in ("", "bye")
    ]
    met = [row for row in rows if not row["note"]]
    assert all((row["points"] + row["opponent_points"], row["winner"]) == (2, None) for row in met)
    byes = [row for row in rows if row["note"]]
    assert {row["bot"] for row in byes} == {"Bot 1", "Bot 2", "Bot 3"}
    assert {(row["points"], row["opponent"]) for row in byes} == {(None, None)}
    assert pairings_of(client, cup, "?round=2") == rows[2:4]
    assert [{k: str("" if v is None else v) for k, v in row.items()} for row in rows] == read_csv(
        client, f"/tournaments/{cup.slug}/pairings.csv"
    )


def test_the_games_of_a_pairing_are_listed_at_its_address(bots: list[BotVersion], client: Client) -> None:
    cup = decide_games(event("swiss", bots))
    for row in pairings_of(client, cup):
        listed = client.get(row["games"]).context["page"].rows
        players = {(row["bot"], row["version"]), (row["opponent"], row["opponent_version"])}
        assert len(listed) == row["points"] + row["opponent_points"] == 2
        for game in listed:
            assert {(one.bot.name, one.number) for one in (game.white, game.black)} == players


def test_the_pairings_of_a_knock_out_name_the_winners_and_leave_open_who_comes(
    bots: list[BotVersion], client: Client
) -> None:
    cup = event("knock-out", [*bots, add_version(None, "Bot 5")])
    first = pairings_of(client, cup)
    assert [(row["round"], row["bot"], row["opponent"]) for row in first if row["round"] == 3] == [
        (3, None, None)
    ]
    decide_games(cup)
    rows = pairings_of(client, cup)
    assert [row["winner"] for row in rows if row["round"] == 3] == ["Bot 1"]
    assert [row["note"] for row in rows if row["round"] == 1].count("bye") == 3
    assert all(row["winner"] == row["bot"] for row in rows if row["note"] == "bye")


@pytest.mark.parametrize("kind", ["swiss", "knock-out"])
def test_the_page_of_a_tournament_with_rounds_links_to_its_pairings(
    bots: list[BotVersion], client: Client, kind: str
) -> None:
    cup = event(kind, bots)
    page = page_of(client, cup)
    for ending in ("csv", "json"):
        assert f'href="/tournaments/{cup.slug}/pairings.{ending}?ladder={LADDER}"' in page
    assert "pairings.csv" not in page_of(client, event("round-robin", bots))


def test_the_games_of_a_tournament_can_be_searched(bots: list[BotVersion], client: Client) -> None:
    cup = decide_games(event("round-robin", bots))
    assert f'href="/games/?tournament={cup.slug}">Search<' in page_of(client, cup)


def test_a_name_that_looks_like_a_formula_stays_text_in_csv_alone(
    bots: list[BotVersion], client: Client
) -> None:
    names = ["=1+1", "+2", "-3", "@sum"]
    cup = decide_games(event("round-robin", [add_version(None, name) for name in names]))
    rows = read_csv(client, f"/tournaments/{cup.slug}/standings.csv")
    assert sorted(row["bot"] for row in rows) == sorted(f"'{name}" for name in names)
    met = read_csv(client, f"/tournaments/{cup.slug}/crosstable.csv")
    assert {row["opponent"] for row in met} == {f"'{name}" for name in names}
    standings = client.get(f"/tournaments/{cup.slug}/standings.json").json()["standings"]
    assert sorted(row["bot"] for row in standings) == sorted(names)


def test_files_of_one_ladder_or_of_all(site: Site, client: Client, bots: list[BotVersion]) -> None:
    cup = make_event("round-robin", versions=bots, ladders=[LADDER, "dualma"], name="Two")
    address = f"/tournaments/{cup.slug}/standings.csv"
    assert {row["ladder"] for row in read_csv(client, address)} == {LADDER, "dualma"}
    assert {row["ladder"] for row in read_csv(client, f"{address}?ladder=dualma")} == {"dualma"}
    assert client.get(f"{address}?ladder=chess").status_code == 404


def test_a_ladder_s_endless_tournament_has_no_files(site: Site, client: Client) -> None:
    Tournament.objects.filter(pk=site.running.pk).update(kind="ladder")
    assert client.get("/tournaments/spring/standings.csv").status_code == 404


@pytest.mark.parametrize("name", ["standings", "crosstable", "pairings"])
def test_a_file_costs_the_same_queries_at_any_size(
    bots: list[BotVersion], client: Client, django_assert_max_num_queries: DjangoAssertNumQueries, name: str
) -> None:
    cup = decide_games(event("swiss", bots))
    with django_assert_max_num_queries(5):
        assert client.get(f"/tournaments/{cup.slug}/{name}.json").status_code == 200


def test_a_cell_of_a_crosstable_leads_to_exactly_its_games(bots: list[BotVersion], client: Client) -> None:
    cup = decide_games(event("round-robin", bots))
    page = client.get(f"/tournaments/{cup.slug}/").content.decode()
    cells = re.findall(r'<td class="(?:win|draw|loss)" title="of 2 games"><a href="([^"]+)">', page)
    assert len(cells) == len(bots) * (len(bots) - 1)
    rows = client.get(html.unescape(cells[0])).context["page"].rows
    assert {game.tournament.slug for game in rows} == {cup.slug}
    assert len(rows) == 2


def test_every_criterion_has_its_own_value() -> None:
    row = StandingsRow(1, score=GameScore(3, 1), matches=2, buchholz=4.5, sonneborn_berger=6.25)
    assert {criterion: standings._criterion(row, criterion) for criterion in Criterion} == {
        Criterion.POINTS: "3.5",
        Criterion.SHARE: "0.88",
        Criterion.BUCHHOLZ: "4.5",
        Criterion.SONNEBORN_BERGER: "6.25",
        Criterion.DIRECT_ENCOUNTER: "0",
        Criterion.MATCHES_WON: "2",
    }


def test_each_criterion_with_a_heading_is_a_column_of_page_and_files(
    bots: list[BotVersion], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    cup = decide_games(event("round-robin", bots))
    monkeypatch.setattr(type(cup.format), "order", tuple(Criterion))
    (cross,) = client.get(cup.get_absolute_url()).context["crosses"]
    shown = [criterion for criterion in Criterion if criterion.heading]
    assert cross.headings == [(criterion.heading, criterion.meaning) for criterion in shown]
    rows = client.get(f"/tournaments/{cup.slug}/standings.json").json()["standings"]
    values = [[row[criterion.name.lower()] for criterion in shown] for row in rows]
    assert [[f"{value:g}" for value in row] for row in values] == [row.criteria for row in cross.rows]


@pytest.mark.parametrize("kind", ["round-robin", "gauntlet", "swiss", "knock-out"])
def test_a_withdrawn_bot_is_marked_on_the_page_and_in_the_files(
    bots: list[BotVersion], client: Client, kind: str
) -> None:
    cup = event(kind, bots)
    withdraw(bots[1], "it lost 5 games in a row")
    tend()
    decide_games(cup)
    page = page_of(client, cup)
    assert page.count('<span class="tag">withdrawn</span>') == 1
    assert re.search(r'Bot 2</a> <small>v1</small> <span class="tag">withdrawn', page)
    rows = read_csv(client, f"{cup.get_absolute_url()}standings.csv")
    assert {row["bot"]: row["withdrawn"] for row in rows if row["withdrawn"] != "False"} == {"Bot 2": "True"}


def test_games_that_were_not_played_are_counted_apart_from_those_won_and_lost(
    bots: list[BotVersion], client: Client
) -> None:
    cup = event("round-robin", bots)
    withdraw(bots[1], "it lost 5 games in a row")
    tend()
    decide_games(cup)
    rows = read_csv(client, f"{cup.get_absolute_url()}standings.csv")
    counted = {row["bot"]: (row["points"], row["games"], row["lost"], row["not_played"]) for row in rows}
    assert counted["Bot 2"] == ("0.0", "0", "0", "6")
    assert {(games, skipped) for name, (_, games, _, skipped) in counted.items() if name != "Bot 2"} == {
        ("4", "2")
    }
    lines = read_csv(client, f"{cup.get_absolute_url()}crosstable.csv")
    met = {(one["bot"], one["opponent"]): (one["points"], one["games"], one["not_played"]) for one in lines}
    assert met["Bot 1", "Bot 2"] == ("2.0", "0", "2")
    assert met["Bot 2", "Bot 1"] == ("0.0", "0", "2")


def test_a_match_of_a_knock_out_without_a_withdrawn_bot_says_so(
    bots: list[BotVersion], client: Client
) -> None:
    cup = event("knock-out", bots, extra_pairs=0)

    def first_wins(game: Game) -> Result:
        withdraw(bots[0], "it lost 5 games in a row")  # the games of its round are over before it matters
        return Result.WHITE_WINS if game.white_id < game.black_id else Result.BLACK_WINS

    decide_games(cup, first_wins)
    assert cup.state == State.FINISHED
    final = [row for row in read_csv(client, f"{cup.get_absolute_url()}pairings.csv") if row["round"] == "2"]
    assert [(row["winner"], row["note"], row["points"]) for row in final] == [("Bot 2", "withdrawn", "")]
    assert "withdrawn</small>" in page_of(client, cup)
