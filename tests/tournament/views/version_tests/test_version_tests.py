"""Pages of version tests: the list, the live page, its chart, and the stop button."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from engines.arithmetic.intervals import interval
from engines.arithmetic.statistics import Pentanomial
from engines.rules.base import Result
from tests.support.filled_site import LADDER, LogIn, Site, add_version
from tests.support.parts import PART, followed_address
from tests.support.schedule import Deal, make_test, make_worker, open_door, play_short, record, record_all
from tournament.models import CountedPair, Tournament, VersionTest
from tournament.services.version_tests.progress import stop_test, tend_tests
from tournament.views.version_tests import version_tests
from workers.jobs import GameJob, JobGame

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def tested(site: Site, settings: Settings) -> Tournament:
    settings.SLOTS = 1
    open_door()
    Tournament.objects.filter(pk=site.running.pk).update(state=Tournament.State.PAUSED)
    newer = add_version(site.owner, "Stone Age")
    return make_test(
        site.owner, candidate=newer, baseline=site.white, ladder=LADDER, elo0=-5.0, elo1=60.5, most_games=200
    )


def candidate_leads(job: GameJob, game: JobGame) -> Result:
    """The candidate wins with White and draws with Black."""
    return Result.WHITE_WINS if game.white == 0 else Result.DRAW


def play(deal: Deal, pairs: int | None = None) -> None:
    """Play so many pairs, or until the test is over."""
    left = pairs
    while left != 0 and (jobs := deal()):
        for job in jobs[:left]:
            record_all(list(play_short(job, candidate_leads)))
        left = None if left is None else left - min(left, len(jobs))
        tend_tests()


def page_of(client: Client, tested: Tournament) -> str:
    return " ".join(client.get(tested.get_absolute_url()).content.decode().split())


def test_a_new_test_has_no_result_yet(client: Client, tested: Tournament) -> None:
    page = page_of(client, tested)
    assert "unknown before the first pair" in page
    assert "<b>-2.94</b> accepts H0: -5 Elo" in page
    assert "<b>2.94</b> accepts H1: 60.5 Elo" in page
    assert "0 counted of at most 200" in page
    assert "ends by itself" in page


def test_the_page_shows_ratio_elo_games_and_pairs(client: Client, tested: Tournament, deal: Deal) -> None:
    play(deal, 3)
    test = VersionTest.objects.get()
    page = page_of(client, tested)
    assert f'Log-likelihood ratio <b class="tabular">{test.ratio:.2f}</b>' in page
    found = interval(test.pairs)
    assert f"<b>{found.elo:.1f}</b> <small>({found.low:.1f} to {found.high:.1f}, the 95 % interval)" in page
    assert "6 counted</a> of at most 200" in page
    cells = re.findall(r'<td class="num">(?:<a [^>]*>)?(\d+)(?:</a>)?</td>', page)
    assert [int(cell) for cell in cells] == [0, 0, 0, 3, 0]
    assert "3 won" in page
    assert "3 drawn" in page
    assert "0 lost" in page
    assert f'href="/games/?tournament={tested.slug}"' in page
    games = client.get(f"/games/?tournament={tested.slug}").content.decode()
    assert len(set(re.findall(r'href="(/games/\d+/)"', games))) == 6


def test_four_equal_pairs_leave_the_difference_open(client: Client, tested: Tournament) -> None:
    counts = Pentanomial(dd=4)
    VersionTest.objects.update(counts=list(counts.cells), looked_at=4, draws=8)
    found = interval(counts)
    assert found.low < -100 < 100 < found.high
    assert f"<b>0.0</b> <small>({found.low:.1f} to {found.high:.1f}," in page_of(client, tested)
    listed = " ".join(client.get("/version-tests/").content.decode().split())
    assert f"0.0 <small>{found.low:.1f}&nbsp;to&nbsp;{found.high:.1f}</small>" in listed
    (row,) = client.get("/version-tests/version-tests.json").json()["tests"]
    assert (row["elo"], row["elo_low"], row["elo_high"]) == pytest.approx((0.0, found.low, found.high))


def test_games_of_incomplete_pairs_are_shown_as_not_counted(
    client: Client, tested: Tournament, deal: Deal, settings: Settings
) -> None:
    settings.SLOTS = 4
    first, second = deal()
    record(next(play_short(first, candidate_leads)))
    tend_tests()
    assert "1 more game: their pair is not complete" in page_of(client, tested)
    record_all(list(play_short(second, candidate_leads)))
    tend_tests()
    assert "3 more games: their pair is not complete" in page_of(client, tested)


@pytest.mark.parametrize("verdict", ["H1", "H0", "limit", "stopped"])
def test_the_end_is_stated_in_a_sentence(
    client: Client, tested: Tournament, deal: Deal, verdict: str
) -> None:
    play(deal, 2)
    stop_test(tested, "its owner stopped it")
    VersionTest.objects.update(outcome=verdict)
    sentences = {
        "H1": "H1 is accepted: the results favour a difference of +60.5 normalized Elo over -5."
        " The ratio passed the upper bound, 2.94.",
        "H0": "H0 is accepted: the results favour a difference of -5 normalized Elo over +60.5."
        " The ratio passed the lower bound, -2.94.",
        "limit": "Undecided: the largest number of games is reached, and neither bound.",
        "stopped": "Stopped without a verdict: its owner stopped it.",
    }
    answers = {"H1": "Yes", "H0": "No", "limit": "Not decided", "stopped": "Not decided"}
    page = page_of(client, tested)
    assert 'Is the difference +60.5 rather than -5 Elo? <span class="tag' in page
    assert f">{answers[verdict]}</span></span></h2>" in page
    assert re.search(
        r"After 4 games: <b class=\"tabular\">[\d.]+ Elo</b>, 95 % interval [-\d.]+ to [\d.]+\.", page
    )
    assert "may still take" not in page
    assert f">{answers[verdict]}" in client.get("/version-tests/").content.decode()
    assert sentences[verdict].replace("'", "&#x27;") in page
    assert "data-follow" not in page


def test_each_number_of_a_test_leads_to_its_games_and_no_others(
    client: Client, tested: Tournament, deal: Deal
) -> None:
    play(deal, 4)
    record(next(play_short(deal()[0], candidate_leads)))  # of a pair that is not complete
    CountedPair.objects.filter(number=2).update(half_points=1)
    VersionTest.objects.update(counts=[0, 1, 0, 3, 0])
    found = re.findall(r'<a href="(/games/[?][^"]*pair=[^"]*)">(\d+)(?: \w+)?</a>', page_of(client, tested))
    expected = {"counted": [8, 4, 4], "1": [1], "3": [3]}
    shown: dict[str, list[int]] = {}
    for address, number in found:
        games = client.get(unescape(address)).context["page"].rows
        (pair,) = re.findall(r"pair=(\w+)", address)
        assert len(games) == int(number) * (1 if pair == "counted" else 2), address
        shown.setdefault(pair, []).append(int(number))
    assert shown == expected


def test_the_pairs_as_files_are_those_of_the_chart(client: Client, tested: Tournament, deal: Deal) -> None:
    play(deal, 3)
    page = page_of(client, tested)
    address = f"{tested.get_absolute_url()}pairs"
    assert f'href="{address}.csv"' in page
    answer = client.get(f"{address}.json").json()
    assert (answer["test"], answer["state"]) == (tested.slug, "running")
    points = client.get(f"{tested.get_absolute_url()}ratios.json").json()["points"]
    assert [[2 * row["pair"], round(row["ratio"], 3)] for row in answer["pairs"]] == points[1:]
    assert [row["points"] for row in answer["pairs"]] == [1.5] * 3
    for row in answer["pairs"]:
        assert len(client.get(row["list"]).context["page"].rows) == 2
    text = client.get(f"{address}.csv").content.decode()
    assert len(text.splitlines()) == 4


def test_the_list_as_files_has_the_tests_of_the_page(
    client: Client, tested: Tournament, site: Site, deal: Deal
) -> None:
    play(deal, 2)
    first, second = (add_version(site.rival, "Other") for _ in range(2))
    make_test(site.rival, candidate=second, baseline=first, ladder=LADDER)
    for query, owners in (("", ["rita", "olga"]), ("?owner=olga", ["olga"]), ("?owner=nobody", [])):
        rows = client.get(f"/version-tests/version-tests.json{query}").json()["tests"]
        assert [row["owner"] for row in rows] == owners
        page = client.get(f"/version-tests/{query}").content.decode()
        assert (f'href="/version-tests/version-tests.csv{query}"' in page) == bool(owners)
    (row,) = client.get("/version-tests/version-tests.json?owner=olga").json()["tests"]
    assert (row["pairs"], row["won"], row["drawn"], row["lost"], row["games"]) == (2, 2, 2, 0, 4)
    assert row["elo"] == pytest.approx(VersionTest.objects.get(tournament=tested).interval.elo)


def test_a_poll_brings_only_news(client: Client, tested: Tournament, deal: Deal) -> None:
    address = followed_address(page_of(client, tested))
    assert client.get(address, headers=PART).status_code == 204
    play(deal, 1)
    news = client.get(address, headers=PART)
    assert news.status_code == 200
    assert "<html" not in news.content.decode()
    assert 'data-counted="1"' in news.content.decode()
    stop_test(tested, "its owner stopped it")
    assert client.get(address, headers=PART)["X-Reload"] == "true"


def test_the_bar_starts_at_zero_and_ends_at_the_ratio() -> None:
    assert version_tests._bar(1.5, -3.0, 3.0) == {"zero": 50.0, "start": 50.0, "width": 25.0}
    assert version_tests._bar(-1.5, -3.0, 3.0) == {"zero": 50.0, "start": 25.0, "width": 25.0}
    assert version_tests._bar(3.4, -3.0, 3.0) == {"zero": 50.0, "start": 50.0, "width": 50.0}


def test_the_chart_has_a_point_for_each_pair(client: Client, tested: Tournament, deal: Deal) -> None:
    play(deal, 4)
    data = client.get(f"{tested.get_absolute_url()}ratios.json").json()
    ratios = VersionTest.objects.get().counted.order_by("number").values_list("ratio", flat=True)
    expected = [[0, 0.0], *([2 * n, round(ratio, 3)] for n, ratio in enumerate(ratios, 1))]
    assert data["points"] == expected
    assert (data["lower"], data["upper"]) == pytest.approx((-2.944, 2.944), abs=1e-3)


def test_a_long_chart_is_thinned_out_and_keeps_its_last_point(
    client: Client, tested: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = tested.version_test
    CountedPair.objects.bulk_create(
        CountedPair(test=test, number=number, half_points=2, ratio=number / 100) for number in range(1, 98)
    )
    VersionTest.objects.update(looked_at=97)
    monkeypatch.setattr(version_tests, "POINTS", 20)
    points = client.get(f"{tested.get_absolute_url()}ratios.json").json()["points"]
    assert [games for games, _ in points] == [0, *range(10, 195, 10), 194]
    assert points[-1] == [194, 0.97]


@pytest.mark.usefixtures("counted")
def test_the_page_costs_the_same_queries_at_any_number_of_games(
    client: Client, tested: Tournament, deal: Deal, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for pairs in (1, 4):
        play(deal, pairs)
        with django_assert_num_queries(7):
            client.get(tested.get_absolute_url())
        with django_assert_num_queries(7):
            client.get(f"{tested.get_absolute_url()}?seen=running-", headers=PART)
        with django_assert_num_queries(4):
            client.get(f"{tested.get_absolute_url()}ratios.json")


@pytest.mark.usefixtures("counted")
def test_the_list_has_all_tests_and_those_of_one_account(
    client: Client, tested: Tournament, site: Site, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    first, second = (add_version(site.rival, "<b>Rival</b>\u202e") for _ in range(2))
    other = make_test(site.rival, candidate=second, baseline=first, ladder=LADDER)
    with django_assert_num_queries(1):
        page = client.get("/version-tests/").content.decode()
    assert page.index(other.slug) < page.index(tested.slug)
    assert "<b>Rival" not in page
    own = client.get("/version-tests/?owner=rita").content.decode()
    assert other.slug in own
    assert tested.slug not in own
    assert "No version tests yet" in client.get("/version-tests/?owner=%00nobody").content.decode()


def test_lists_of_tournaments_leave_tests_out(site: Site, tested: Tournament, as_user: LogIn) -> None:
    client = as_user(site.owner)
    for address in ("/tournaments/", "/"):
        assert tested.slug not in client.get(address).content.decode()
    account = client.get("/account/").content.decode()
    assert account.count(f'href="/version-tests/{tested.slug}/"') == 1


def test_the_queue_says_that_a_test_plays_last(client: Client, tested: Tournament) -> None:
    make_worker()
    page = client.get("/queue/").content.decode()
    assert f'href="/version-tests/{tested.slug}/"' in page
    assert '<td class="num">last</td>' in page


def test_a_usual_question_is_asked_in_words(client: Client, tested: Tournament) -> None:
    for elo0, elo1, question in (
        (0, 20, "Is it clearly stronger?"),
        (0, 8, "Is it a little stronger?"),
        (-10, 0, "Is it at least not weaker?"),
    ):
        VersionTest.objects.update(elo0=elo0, elo1=elo1)
        assert f"{question} <span" in page_of(client, tested)
        assert question in client.get("/version-tests/").content.decode()


def test_a_running_test_says_how_long_it_may_take_and_that_it_waits(
    client: Client, tested: Tournament, deal: Deal
) -> None:
    assert "It waits: no worker plays games at the moment." in page_of(client, tested)
    make_worker()
    page = page_of(client, tested)
    assert re.search(r"It may still take 200 games, about \d+ (second|minute)s?", page)
    assert "It waits: all other games come first." in page
    play(deal, 3)
    jobs = deal()
    assert jobs
    page = page_of(client, tested)
    assert "It may still take 194 games" in page
    assert "It waits" not in page
