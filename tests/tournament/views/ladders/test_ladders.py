"""Ladders: drawings in the rows, sizes on the list, and the downloads."""

from __future__ import annotations

import csv
import io
import json
import re
from xml.etree import ElementTree

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from engines.rules.base import Result
from tests.support.estimating import PairTally, estimate
from tests.support.filled_site import LADDER, Site, add_version
from tests.support.rated_games import play_rated
from tests.tournament.views.bots.test_results import check_numbers, text_of
from tournament.models import BotVersion, Game, LadderRating, PairOutcome, PairScore, RatingEvent, Tournament
from tournament.services.bots.activity import switch
from tournament.views.games import search
from tournament.views.ladders import ladders, overall, ratings
from tournament.views.ladders.drawings import (
    BAR_WIDTH,
    EDGE,
    RatingScale,
    draw_curve,
    draw_interval,
    draw_results,
)
from tournament.views.ladders.ladders import ladder_tops
from tournament.views.ladders.ratings import COLUMNS, LadderColumn, recent_ratings
from tournament.views.ladders.rows import RatingRow

OTHER = "dualma"
"""A ladder without ratings."""


def rating(mu: float = 25, sigma: float = 5, **results: int) -> LadderRating:
    return LadderRating(mu=mu, sigma=sigma, conservative=mu - 3 * sigma, **results)


def rate(version: BotVersion, mu: float, ladder: str = OTHER, **values: int) -> None:
    LadderRating.objects.create(
        ladder_id=ladder, version=version, mu=mu, sigma=1, conservative=mu - 3, **values
    )


def add_events(game: Game, version: BotVersion, mus: list[float], ladder: str = OTHER) -> None:
    """One event a rating; all belong to one game, because only their sequence is read."""
    RatingEvent.objects.bulk_create(
        RatingEvent(
            ladder_id=ladder,
            sequence=sequence,
            game=game,
            version=version,
            mu_before=0,
            sigma_before=1,
            mu_after=mu,
            sigma_after=1,
        )
        for sequence, mu in enumerate(mus, start=1)
    )


def attributes(drawn: str, kind: str) -> dict[str, str]:
    root = ElementTree.fromstring(drawn)
    return next(dict(part.attrib) for part in root.iter() if part.get("class") == kind)


def test_intervals_of_a_page_have_one_scale() -> None:
    weak, strong = rating(10, 2), rating(40, 1)
    scale = RatingScale.of([weak, strong])
    assert (scale.low, scale.high) == (4, 43)
    low = attributes(draw_interval(weak, scale), "span")
    high = attributes(draw_interval(strong, scale), "span")
    assert float(low["x"]) == EDGE
    assert float(high["x"]) + float(high["width"]) == BAR_WIDTH - EDGE
    assert float(low["width"]) == pytest.approx(2 * float(high["width"]), abs=0.2)
    assert attributes(draw_interval(weak, scale), "bar interval")["aria-label"] == (
        "between 4.0 and 16.0, mean 10.0"
    )


def test_a_line_of_ratings_rises_with_them_and_small_changes_stay_flat() -> None:
    def heights(drawn: str) -> list[float]:
        spots = attributes(drawn, "line")["d"].removeprefix("M").split("L")
        return [float(spot.split()[1]) for spot in spots]

    assert heights(draw_curve([1, 9, 5])) == [14, 4, 9]
    small = heights(draw_curve([5.0, 5.1]))
    assert 0 < small[0] - small[1] < 1
    assert draw_curve([1]) == ""
    assert "from 1.0 to 5.0 in the last 3 rated games" in draw_curve([1, 9, 5])


def test_the_results_share_a_bar() -> None:
    drawn = draw_results({"won": 6, "drawn": 3, "lost": 1})
    widths = [float(attributes(drawn, kind)["width"]) for kind in ("won", "drawn", "lost")]
    assert widths == [54, 27, 9]
    assert 'class="lost"' not in draw_results({"won": 1, "drawn": 0, "lost": 0})


def test_a_row_of_a_ladder_has_its_drawings_and_their_numbers_as_text(site: Site, client: Client) -> None:
    rate(site.white, 30, wins=12, draws=3, losses=4, games=19)
    add_events(site.played, site.white, [25, 27, 30])
    row = client.get(f"/ladders/{OTHER}/").content.decode().partition("<tbody>")[2].partition("</tbody>")[0]
    assert [kind for kind in ("interval", "recent", "results") if f'class="bar {kind}"' in row] == [
        "interval",
        "recent",
        "results",
    ]
    assert re.findall(r'class="(?:win|draw|loss)"><a [^>]*>(\d+)<', row) == ["12", "3", "4"]
    assert "from 22.0 to 27.0 in the last 3 rated games" in row
    assert " style=" not in row


def test_the_latest_result_is_never_one_of_a_validation(site: Site, client: Client) -> None:
    address = f"/ladders/{site.played.ladder_id}/"
    latest = client.get(address).context["latest"]
    Tournament.objects.filter(pk=latest.tournament_id).update(kind="validation")
    assert latest.get_absolute_url() not in client.get(address).content.decode()


def test_the_latest_ratings_of_all_versions_are_one_query(
    site: Site, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for version in (site.white, site.black):
        rate(version, 30)
    add_events(site.played, site.white, [float(mu) for mu in range(40)])
    add_events(site.played, site.black, [7, 8])
    add_events(site.played, site.white, [99], ladder=LADDER)
    with django_assert_num_queries(1):
        found = recent_ratings(OTHER, [site.white.pk, site.black.pk], count=5)
    assert found == {site.white.pk: [32, 33, 34, 35, 36], site.black.pk: [4, 5]}


def test_the_latest_ratings_are_read_from_the_index_of_histories(site: Site) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("a plan of SQLite")
    with CaptureQueriesContext(connection) as queries:
        recent_ratings(OTHER, [site.white.pk, site.black.pk])
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {queries[0]['sql']}")
        plan = [row[3] for row in cursor.fetchall()]
    reads = [line for line in plan if "ratingevent" in line]
    assert len(reads) == 2
    assert all("USING INDEX event_history (version_id=? AND ladder_id=?)" in line for line in reads)
    assert not any("ORDER BY" in line for line in plan)


def test_the_list_of_ladders_counts_bots_and_rated_games(site: Site, client: Client) -> None:
    for version in (site.white, site.black, add_version(site.owner, "Stone Age")):
        rate(version, 20 + version.number, games=4)
    cards = {game.code: sizes for game, _, *sizes, _ in client.get("/ladders/").context["cards"]}
    assert cards[OTHER] == [2, 6]
    page = client.get("/ladders/").content.decode()
    assert "2 bots, 6 rated games" in page
    assert page.count('class="thumb"') == len(cards)
    leader = page.partition(f'href="/ladders/{OTHER}/"')[2].partition("<tbody>")[2]
    assert "/bots/stone-age/2/" in leader.partition("</a>")[0]


def test_the_ratings_can_be_downloaded_as_csv_and_json(site: Site, client: Client) -> None:
    formula = add_version(site.owner, "=cmd|' /C calc'!A0")
    rate(formula, 40.5, wins=2, losses=1, games=3)
    rate(add_version(None, "Zażółć"), 20)
    answer = client.get(f"/ladders/{OTHER}/ratings.csv")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == f'attachment; filename="{OTHER}-ratings.csv"'
    first, second = csv.DictReader(io.StringIO(answer.content.decode("utf-8")))
    assert tuple(first) == RatingRow.__struct_fields__
    assert (first["place"], first["bot"], first["rating"], first["wins"]) == (
        "1",
        "'=cmd|' /C calc'!A0",
        "37.5",
        "2",
    )
    assert (second["bot"], second["owner"]) == ("Zażółć", "")
    values = json.loads(client.get(f"/ladders/{OTHER}/ratings.json").content)
    assert values["ladder"] == OTHER
    assert [row["bot"] for row in values["ratings"]] == ["=cmd|' /C calc'!A0", "Zażółć"]
    assert values["ratings"][0]["page"] == f"http://testserver{formula.get_absolute_url()}"
    assert values["ratings"][1]["owner"] is None


def test_a_new_column_is_in_the_heading_the_rows_and_the_width(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def form(page: str) -> tuple[int, int, str]:
        table = page.partition("<thead>")[2].partition("</table>")[0]
        head, _, body = table.partition("</thead>")
        row = body.partition("<tr data-key")[2].partition("</tr>")[0]
        return head.count("<th"), row.count("<td"), table.partition('colspan="')[2].partition('"')[0]

    rate(site.white, 20, games=10)
    LadderRating.objects.filter(version=site.white, ladder=OTHER).update(sigma=2)
    number = len(COLUMNS)
    assert form(client.get(f"/ladders/{OTHER}/").content.decode()) == (number, number, str(number))
    column = LadderColumn("Twice", lambda row: 2 * row.results.total, title="the games, two times", css="num")
    for module in (ladders, ratings):
        monkeypatch.setattr(module, "COLUMNS", (*COLUMNS, column))
    page = client.get(f"/ladders/{OTHER}/").content.decode()
    assert form(page) == (number + 1, number + 1, str(number + 1))
    assert '<th scope="col" class="num"><abbr title="the games, two times">Twice</abbr></th>' in page


@pytest.mark.parametrize("address", ["dualma/ratings.xml", "chess/ratings.csv", "dualma/ratings.pgn"])
def test_ratings_of_another_kind_or_ladder_are_not_found(site: Site, client: Client, address: str) -> None:
    assert client.get(f"/ladders/{address}").status_code == 404


def test_provisional_ratings_stand_below_the_others_without_a_place(site: Site, client: Client) -> None:
    rate(site.white, 20, games=80)
    rate(site.black, 40, games=10)
    LadderRating.objects.filter(version=site.black, ladder=OTHER).update(sigma=2)
    rows = client.get(f"/ladders/{OTHER}/").context["ranked"]
    assert [(row.rating.place, row.rating.version) for row in rows] == [(1, site.white), (None, site.black)]
    assert "Provisional: the interval is wider than 9" in client.get(f"/ladders/{OTHER}/").content.decode()


def test_two_versions_of_a_ladder_are_compared_by_its_estimate(site: Site, client: Client) -> None:
    for version in (site.white, site.black):
        rate(version, 20, games=80)
    PairScore.objects.create(ladder_id=OTHER, white=site.white, black=site.black, wins=30, losses=10)
    PairScore.objects.create(ladder_id=OTHER, white=site.black, black=site.white, wins=10, losses=30)
    chosen = f"/ladders/{OTHER}/compare/?one={site.white.pk}&other={site.black.pk}"
    page = client.get(chosen, follow=True)
    ((*_, gap),) = page.context["gaps"]
    assert gap.superiority > 0.9
    assert f"{100 * gap.superiority:.1f} %" in page.content.decode()
    same = client.get(f"/ladders/{OTHER}/compare/?one={site.white.pk}&other={site.white.pk}", follow=True)
    assert "Choose two different versions." in same.content.decode()


def test_each_number_of_a_row_leads_to_its_games(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "PAGE_SIZE", 1000)
    for table in (LadderRating, RatingEvent, PairScore, PairOutcome):
        table.objects.all().delete()
    Game.objects.filter(pk=site.played.pk).update(rated=False)
    play_rated(None, "Autumn", [site.white, site.black], pairs=3)
    assert check_numbers(client, text_of(client, f"/ladders/{LADDER}/")) >= 6


def test_the_form_to_compare_begins_with_the_two_best_bots(site: Site, client: Client) -> None:
    newer = add_version(site.owner, "Stone Age")
    for mu, version in ((30, site.white), (29, newer)):
        rate(version, mu, games=80)
    assert 'name="other"' not in text_of(client, f"/ladders/{OTHER}/")  # versions of one bot
    rate(site.black, 20, games=80)
    page = text_of(client, f"/ladders/{OTHER}/")
    first, other = page.partition('name="one"')[2].split('name="other"')
    assert first.index(f'value="{site.white.pk}"') < first.index(f'value="{newer.pk}"')
    assert re.findall(r'value="(\d+)" selected', page) == [str(site.black.pk)]
    assert f'value="{site.black.pk}" selected' in other


def test_an_estimate_far_from_the_live_rating_is_marked(site: Site, client: Client) -> None:
    rate(site.white, 10, games=80)
    rate(site.black, 40, games=80)
    PairScore.objects.create(ladder_id=OTHER, white=site.white, black=site.black, wins=300, losses=10)
    page = client.get(f"/ladders/{OTHER}/")
    assert all(row.agreement.disagrees for row in page.context["ranked"])


def test_live_ratings_are_compared_with_the_estimate_among_the_versions_that_it_has(
    site: Site, client: Client
) -> None:
    for version in (site.white, site.black):
        rate(version, 20, games=80)
    rate(add_version(site.owner, "Old"), 60, games=80)
    PairScore.objects.create(ladder_id=OTHER, white=site.white, black=site.black, wins=9, losses=9)
    agreements = [row.agreement for row in client.get(f"/ladders/{OTHER}/").context["ranked"]]
    assert [one and one.live for one in agreements] == [None, 0.0, 0.0]


def test_the_sample_that_plays_at_random_is_the_zero_of_the_estimate(site: Site, client: Client) -> None:
    anchor = add_version(None, "Random")
    rate(site.white, 20, games=80)
    rate(anchor, 10, games=80)
    PairScore.objects.create(ladder_id=OTHER, white=site.white, black=anchor, wins=30, losses=10)
    page = client.get(f"/ladders/{OTHER}/")
    found = {row.rating.version: row for row in page.context["ranked"]}
    assert found[anchor].agreement.strength.elo == 0
    assert found[site.white].agreement.strength.elo > 100
    assert not found[anchor].agreement.disagrees
    mean = page.context["estimate"].anchor
    assert mean.elo == -found[site.white].agreement.strength.elo / 2
    assert f"Zero is the sample Random, {mean.elo:+.0f}" in page.content.decode()


@pytest.mark.parametrize(("ladder", "first", "sign"), [("dualma", "Black", -1), ("duovallis", "White", 1)])
def test_the_advantage_is_that_of_the_player_who_moves_first(
    site: Site, client: Client, ladder: str, first: str, sign: int
) -> None:
    for version in (site.white, site.black):
        rate(version, 20, ladder, games=80)
    for white, black in ((site.white, site.black), (site.black, site.white)):
        PairScore.objects.create(ladder_id=ladder, white=white, black=black, wins=300, losses=100)
    page = client.get(f"/ladders/{ladder}/")
    shown = page.context["first_advantage"]
    assert shown == sign * page.context["estimate"].advantage.elo
    assert shown * sign > 100
    text = " ".join(page.content.decode().split())
    assert f"{first} moves first. The advantage of the first move is {shown:+.0f}" in text


def test_an_advantage_that_a_single_opening_leaves_open_is_unknown(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [PairTally(1, 2, Result.WHITE_WINS, Result.WHITE_WINS, 5, "Dd3")]
    monkeypatch.setattr(ladders, "ladder_estimate", lambda code: estimate([1, 2], [], pairs))
    text = " ".join(client.get(f"/ladders/{LADDER}/").content.decode().split())
    said = "The advantage of the first move is unknown, because most games have the same opening."
    assert f"{said} Strengths are estimated from 10 rated games." in text


def test_every_page_gives_a_bot_the_place_of_the_ladders_page(site: Site, client: Client) -> None:
    older, third = add_version(site.owner, "Stone Age"), add_version(site.owner, "Third")
    provisional = add_version(None, "Cy")
    for version, mu in ((site.white, 40), (older, 35), (site.black, 30), (third, 25)):
        rate(version, mu, games=80)
    LadderRating.objects.create(
        ladder_id=OTHER, version=provisional, mu=60, sigma=2, conservative=54, games=9
    )
    places = {
        row.rating.version: row.rating.place for row in client.get(f"/ladders/{OTHER}/").context["ranked"]
    }
    assert places == {site.white: 1, older: None, site.black: 2, third: 3, provisional: None}
    exported = client.get(f"/ladders/{OTHER}/ratings.json").json()["ratings"]
    assert [row["place"] for row in exported] == [1, None, 2, 3, None]
    shown = [(site.white, 1), (site.black, 2), (third, 3), (provisional, None)]
    (top,) = [top for game, top in ladder_tops() if game.code == OTHER]
    assert [(row.version, row.place) for row in top] == shown
    for address in ("/", "/ladders/"):
        page = client.get(address).content.decode()
        table = (
            page.rpartition(f'href="/ladders/{OTHER}/"')[2].partition("<tbody>")[2].partition("</tbody>")[0]
        )
        assert re.findall(r'rank num">([^<]+)<', table) == ["1", "2", "3", "–"], address


def test_a_page_after_the_last_one_of_a_ladder_shows_its_last_rows(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ladders, "PAGE_SIZE", 1)
    for version, mu in ((site.white, 30), (site.black, 20)):
        rate(version, mu, games=80)
    for page, version in ((1, site.white), (2, site.black), (9, site.black)):
        context = client.get(f"/ladders/{OTHER}/", {"page": page}).context
        assert [row.rating.version for row in context["ranked"]] == [version]
        assert bool(context["page"].next) == (version == site.white)


def test_a_ladder_with_only_provisional_ratings_has_no_leader(site: Site, client: Client) -> None:
    LadderRating.objects.create(ladder_id=OTHER, version=site.white, mu=60, sigma=2, conservative=54, games=9)
    page = client.get("/ladders/").content.decode().partition(f'href="/ladders/{OTHER}/"')[2]
    card = page.partition("</section>")[0]
    assert "Leader" not in card
    assert ">–</td>" in card


def leave(site: Site, how: str) -> None:
    """The first bot no longer plays on the ladder."""
    if how == "switched off":
        switch(site.white.bot, OTHER, on=False)
    else:
        BotVersion.objects.filter(pk=site.white.pk).update(state=how)


@pytest.mark.parametrize("how", ["withdrawn", "refused", "switched off"])
def test_who_no_longer_plays_stands_below_the_list_and_the_others_close_up(
    site: Site, client: Client, how: str
) -> None:
    third = add_version(None, "Cy")
    for number, version in enumerate((third, site.black, site.white)):
        rate(version, 20 + number, games=80)
    game = site.played
    add_events(game, site.white, [21.0, 22.0])
    leave(site, how)
    page = client.get(f"/ladders/{OTHER}/")
    rows = [(row.rating.version, row.rating.place) for row in page.context["ranked"]]
    assert rows == [(site.black, 1), (third, 2), (site.white, None)]
    text = text_of(client, f"/ladders/{OTHER}/")
    day = game.finished_at
    assert day is not None
    assert f"{day.day} {day:%b %Y}</time></small>" in text
    assert text.count("No longer playing here") == text.count("last rated") == 1
    (card,) = [top for game, top in ladder_tops() if game.code == OTHER]
    assert [(row.version, row.place) for row in card] == rows[:2]
    assert site.white.bot not in [row[0] for row in client.get("/ladders/overall/").context["rows"]]
    exported = client.get(f"/ladders/{OTHER}/ratings.json").json()["ratings"]
    assert [(row["place"], row["bot"], row["last_game"]) for row in exported] == [
        (1, site.black.bot.name, None),
        (2, "Cy", None),
        (None, site.white.bot.name, day.isoformat()),
    ]


def test_a_bot_with_another_version_keeps_the_place_of_its_best_valid_one(site: Site, client: Client) -> None:
    newer = add_version(site.white.bot.owner, site.white.bot.name)
    for number, version in enumerate((site.black, newer, site.white)):
        rate(version, 20 + number, games=80)
    BotVersion.objects.filter(pk=site.white.pk).update(state="withdrawn")
    rows = client.get(f"/ladders/{OTHER}/").context["ranked"]
    assert [(row.rating.version, row.rating.place) for row in rows] == [
        (newer, 1),
        (site.black, 2),
        (site.white, None),
    ]


def test_the_overall_table_has_the_settled_bots_with_their_ladders(site: Site, client: Client) -> None:
    for number, version in enumerate((site.white, site.black, add_version(None, "Cy"))):
        rate(version, 20 + number, games=80)
    rows = client.get("/ladders/overall/").context["rows"]
    bot, score, _ = rows[0]
    assert (bot.name, score.coverage) == ("Cy", 1)
    assert len(rows) == 3


def test_the_overall_table_as_files_has_all_bots(
    site: Site,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for number, version in enumerate((site.white, site.black, add_version(None, "Cy"))):
        rate(version, 20 + number, games=80)
    monkeypatch.setattr(overall, "MAX_SHOWN", 1)
    page = client.get("/ladders/overall/")
    assert len(page.context["rows"]) == 1
    assert 'href="/ladders/overall/scores.csv"' in page.content.decode()
    with django_assert_num_queries(2):
        scores = client.get("/ladders/overall/scores.json").json()["scores"]
    assert [(one["place"], one["bot"], one["ladders"], one["owner"]) for one in scores[:2]] == [
        (1, "Cy", 1, None),
        (2, site.black.bot.name, 1, "rita"),
    ]
    assert scores[0]["score"] == scores[0][OTHER] > 0
    assert scores[0][LADDER] is None
    assert scores[0]["page"] == "http://testserver/bots/cy/"
