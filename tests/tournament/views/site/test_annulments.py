"""The pages that annul games and take annulments back, and what other pages say about annulled games."""

from __future__ import annotations

import csv
import datetime
import io
import json

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from tests.support.filled_site import LogIn, Site
from tests.support.parts import PART, seen_of
from tests.support.rated_games import play_rated
from tests.support.schedule import make_test
from tournament.models import Act, Game, GameLog, Tournament, WorkerName
from tournament.services.annulments import annul
from tournament.services.results.rebuilding import rebuild_outdated
from tournament.views.site import annulments

REASON = "The worker's clock was <wrong>."


@pytest.fixture
def games(site: Site) -> list[Game]:
    """Games of one worker, an hour apart."""
    played = play_rated(site.owner, "Autumn", [site.white, site.black], pairs=3)
    worker = WorkerName.objects.create(name="players@east")
    for number, game in enumerate(played):
        ended = datetime.datetime(2026, 3, 1, number, tzinfo=datetime.UTC)
        Game.objects.filter(pk=game.pk).update(played_by=worker, finished_at=ended)
    return list(Game.objects.filter(played_by=worker).order_by("pk"))


def text_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def annul_one(game: Game, reason: str = REASON) -> None:
    annul(Game.objects.filter(pk=game.pk), reason, timezone.now())


def test_staff_sees_how_many_games_before_they_are_annulled(
    games: list[Game], site: Site, as_user: LogIn
) -> None:
    staff, worker = as_user(site.staff), WorkerName.objects.get()
    sent = {
        "action": "annul",
        "worker": worker.pk,
        "since": "2026-03-01T01:00",
        "until": "2026-03-01T04:00",
        "reason": REASON,
    }
    page = staff.post("/staff/annul/", sent).content.decode()
    period = "the games of worker players@east from 2026-03-01 01:00 UTC until 2026-03-01 04:00 UTC"
    assert f"3 games will be annulled: {period}." in page
    assert not Game.objects.filter(annulled=True).exists()
    page = staff.post("/staff/annul/", sent | {"games": "2"}).content.decode()
    assert "3 games will be annulled" in page, "another number than the one confirmed"
    answer = staff.post("/staff/annul/", sent | {"games": "3"})
    assert answer.status_code == 302
    assert [game.pk for game in Game.objects.filter(annulled=True).order_by("pk")] == [
        game.pk for game in games[1:4]
    ]
    assert "3 games annulled." in text_of(staff, "/staff/annul/")
    page = staff.post("/staff/annul/", sent).content.decode()
    assert "Nothing to do" in page
    staff.post("/staff/annul/", sent | {"action": "take-back", "reason": "", "games": "3"})
    assert not Game.objects.filter(annulled=True).exists()
    assert list(Act.objects.order_by("pk").values_list("actor_name", "deed", "subject")) == [
        ("stan", f"annulled 3 games: {REASON}", period),
        ("stan", "took the annulment of 3 games back", period),
    ]


def test_one_game_is_annulled_from_its_page(games: list[Game], site: Site, as_user: LogIn) -> None:
    staff, game = as_user(site.staff), games[0]
    address = game.get_absolute_url()
    assert f'href="/staff/annul/?game={game.pk}"' in text_of(staff, address)
    assert f'value="{game.pk}"' in text_of(staff, f"/staff/annul/?game={game.pk}")
    sent = {"action": "annul", "game": game.pk, "reason": REASON, "games": "1"}
    assert staff.post("/staff/annul/", sent)["Location"] == address
    assert f'href="/staff/annul/?game={game.pk}&amp;action=take-back"' in text_of(staff, address)
    assert "Take their annulment back</option>" in text_of(
        staff, f"/staff/annul/?game={game.pk}&action=take-back"
    ).replace(" selected", "")
    assert "/staff/annul/" not in text_of(as_user(site.owner), address)


def test_the_page_of_a_validation_game_offers_no_annulment(site: Site, as_user: LogIn) -> None:
    game = site.validation.games.earliest("pk")
    assert "/staff/annul/" not in text_of(as_user(site.staff), game.get_absolute_url())


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({}, "Choose a game or a worker."),
        ({"game": "1", "worker": "{worker}"}, "Choose a game or a worker."),
        ({"game": "{game}"}, "Say why the games are annulled."),
        ({"game": "99999", "reason": "x"}, "There is no recorded game with the number 99999."),
        ({"game": str(2**70), "reason": "x"}, "less than or equal"),
        ({"worker": "99999", "reason": "x"}, "Select a valid choice"),
        ({"worker": str(2**70), "reason": "x"}, "Select a valid choice"),
        ({"worker": "{worker}", "since": "yesterday", "reason": "x"}, "Enter a valid date/time."),
    ],
)
def test_a_form_that_is_not_complete_says_what_is_missing(
    games: list[Game], site: Site, as_user: LogIn, sent: dict[str, str], sentence: str
) -> None:
    worker = WorkerName.objects.get().pk
    values = {name: text.format(worker=worker, game=games[0].pk) for name, text in sent.items()}
    page = as_user(site.staff).post("/staff/annul/", {"action": "annul", **values}).content.decode()
    assert sentence in page
    assert not Game.objects.filter(annulled=True).exists()


def test_very_many_games_need_shorter_periods(
    games: list[Game], site: Site, as_user: LogIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(annulments, "MAX_AT_ONCE", 2)
    sent = {"action": "annul", "worker": WorkerName.objects.get().pk, "reason": "x", "games": str(len(games))}
    staff = as_user(site.staff)
    assert staff.post("/staff/annul/", sent).status_code == 302
    assert "choose a shorter period" in staff.post("/staff/annul/", sent | {"games": ""}).content.decode()
    assert not Game.objects.filter(annulled=True).exists()
    assert not Act.objects.exists()


# What pages say


def test_a_game_says_that_it_is_annulled_and_why(games: list[Game], client: Client) -> None:
    annul_one(games[0])
    page = text_of(client, games[0].get_absolute_url())
    assert "This game is annulled: it counts in no rating and no table." in page
    assert "The worker&#x27;s clock was &lt;wrong&gt;." in page
    assert "<dt>Rated</dt> <dd>no: it is annulled</dd>" in page
    assert "The game is annulled." in text_of(client, f"/games/{games[0].pk}/embed/")
    other = text_of(client, games[1].get_absolute_url())
    assert "This game is annulled" not in other


def test_lists_mark_annulled_games_with_a_word_and_filter_them(games: list[Game], client: Client) -> None:
    annul_one(games[0])
    mark = '<span class="tag cancelled">annulled</span>'
    for address in ("/games/", "/tournaments/autumn/", "/bots/stone-age/", "/people/olga/"):
        assert text_of(client, address).count(mark) == 1, address
    for value, count in (("yes", 1), ("no", len(games))):  # one more game is in the list, of Spring
        rows = client.get(f"/games/?annulled={value}").context["page"].rows
        assert len(rows) == count
    assert '"annulled":true' in client.get("/games/games.jsonl?annulled=yes").content.decode()


def test_a_tournament_says_how_many_games_are_annulled(games: list[Game], client: Client) -> None:
    for game in games[:2]:
        annul_one(game)
    page = text_of(client, "/tournaments/autumn/")
    assert "2 games of this tournament are annulled and count in no table." in page
    assert 'href="/games/?tournament=autumn&amp;annulled=yes"' in page
    assert "annulled and count" not in text_of(client, "/tournaments/spring/")


def test_the_open_page_of_a_tournament_learns_of_an_annulment(site: Site, client: Client) -> None:
    seen = seen_of(client.get("/tournaments/spring/"))
    poll = {"path": f"/tournaments/spring/?seen={seen}", "headers": PART}
    assert client.get(**poll).status_code == 204  # type: ignore[arg-type]
    annul_one(site.played)
    assert client.get(**poll).status_code == 200  # type: ignore[arg-type]


def test_a_version_test_says_how_many_games_are_annulled(site: Site, client: Client) -> None:
    tournament = make_test(site.owner)
    Tournament.objects.filter(pk=tournament.pk).update(revision=1)
    game = tournament.games.earliest("pk")
    Game.objects.filter(pk=game.pk).update(
        state="done", result="1-0", termination="rules", sequence=77, finished_at=timezone.now()
    )
    annul_one(game)
    assert "1 game of this tournament is annulled and counts in no table." in text_of(
        client, tournament.get_absolute_url()
    )


def test_pages_with_ratings_say_that_they_are_being_computed_again(games: list[Game], client: Client) -> None:
    annul_one(games[0])
    sentence = "The ratings of this ladder are being computed again"
    addresses = ("/ladders/dogon-kulei/", "/bots/stone-age/", games[1].get_absolute_url())
    for address in addresses:
        assert text_of(client, address).count(sentence) == 1, address
    assert sentence not in text_of(client, "/ladders/dualma/")
    rebuild_outdated()
    for address in addresses:
        assert sentence not in text_of(client, address), address


def test_a_repeat_that_counts_in_place_of_an_annulled_game_says_so(games: list[Game], client: Client) -> None:
    first, second = games[:2]
    Game.objects.filter(pk__in=[first.pk, second.pk]).update(fingerprint="same")
    Game.objects.filter(pk=second.pk).update(rated=False)
    annul_one(first)
    page = text_of(client, second.get_absolute_url())
    assert f". Its record says otherwise. It repeats game {first.key}, which is annulled." in page


def test_the_published_list_has_number_name_reason_and_time(games: list[Game], client: Client) -> None:
    annul_one(games[0])
    (row,) = csv.DictReader(io.StringIO(client.get("/records/annulled.csv").content.decode()))
    assert (row["number"], row["GameId"], row["effect"]) == (str(games[0].pk), games[0].key, "annulled")
    assert (row["reason"], row["ladder"]) == (REASON, "dogon-kulei")
    assert datetime.datetime.fromisoformat(row["time"]).tzinfo is not None
    listed = json.loads(client.get("/records/annulled.json").content)
    assert [{name: str(value) for name, value in entry.items()} for entry in listed["games"]] == [row]
    assert client.get("/records/annulled.xml").status_code == 404


def test_the_list_is_read_with_one_query(
    games: list[Game], client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    annul(Game.objects.all(), REASON, timezone.now())
    with django_assert_num_queries(1):
        client.get("/records/annulled.csv")


def test_a_game_without_logs_says_how_long_they_were_kept(
    site: Site, as_user: LogIn, settings: Settings
) -> None:
    settings.LOG_DAYS, settings.FAULT_LOG_DAYS = 31, 181
    address, sentence = site.played.get_absolute_url(), "The logs were kept for {} days."
    assert "logs were kept" not in text_of(as_user(site.owner), address)
    GameLog.objects.all().delete()
    assert sentence.format(31) in text_of(as_user(site.owner), address)
    assert "logs were kept" not in text_of(as_user(), address)
    Game.objects.filter(pk=site.played.pk).update(fault="white")
    assert sentence.format(181) in text_of(as_user(site.owner), address)
