"""Tournament pages: crosstable, filters, polling, the form, start and cancel."""

from __future__ import annotations

import datetime
import html
import json
import re
import uuid
from typing import Any

import pytest
from django.db.models import Q
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from engines.arithmetic.standings import format_points
from engines.records import Record, read_records
from tests.support.filled_site import LADDER, LogIn, Site, add_version, decide_games, finish, round_robin
from tests.support.parts import PART, followed_address
from tests.support.schedule import make_event, make_worker
from tests.support.seats import seat
from tournament.models import Game, LadderRating, LiveGame, OwnRatings, Tournament
from tournament.services.calendar import tend
from tournament.services.results.withdrawal import withdraw
from tournament.services.schedule.own_ratings import refresh_ratings
from tournament.services.schedule.tournaments import start
from tournament.views.tournaments import meetings, tournaments


def form(site: Site, **changed: Any) -> dict[str, Any]:
    return {
        "name": "Autumn",
        "bots": [site.white.pk, site.black.pk],
        "ladders": [LADDER],
        "pairs": 2,
        "time_control": "60+0.5",
        "opening_plies": 2,
        "seed": 7,
        "rated": "on",
        **changed,
    }


def test_the_crosstable_counts_points_and_games(site: Site, client: Client) -> None:
    page = client.get("/tournaments/spring/").content.decode()
    assert "of 1</span>" in page
    assert "1 of 2 games" in page
    assert "&lt;b&gt;Rival&lt;/b&gt;" in page
    assert "<b>Rival" not in page


def test_a_tournament_s_page_costs_the_same_queries_at_any_size(
    site: Site, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    big = round_robin(None, "Big", [add_version(None, f"bot {n}") for n in range(6)], pairs=3)
    start(big)
    for number, game in enumerate(big.games.order_by("id")[:20], start=2):
        finish(game, number)
    make_worker()
    with django_assert_max_num_queries(13):  # one of them for each state of the games that are listed
        assert client.get("/tournaments/big/").status_code == 200


def test_games_of_all_states_are_listed_newest_first_on_every_page(site: Site, client: Client) -> None:
    big = round_robin(None, "Big", [add_version(None, f"bot {n}") for n in range(6)], pairs=4)
    start(big)
    ids = list(big.games.order_by("-id").values_list("id", flat=True))
    Game.objects.filter(pk__in=ids[::3]).update(state=Game.State.CANCELLED)
    Game.objects.filter(pk__in=ids[1::3]).update(state=Game.State.HALTED)
    listed, address = [], "/tournaments/big/?result=all"
    while address:
        page = client.get(address).content.decode()
        listed += [int(number) for number in dict.fromkeys(re.findall(r'href="/games/(\d+)/"', page))]
        older = re.search(r'href="(\?[^"]*before=[^"]*)"', page)
        address = f"/tournaments/big/{html.unescape(older[1])}" if older else ""
    assert listed == ids
    newer = client.get(f"/tournaments/big/?result=all&after={ids[-1]}").content.decode()
    assert f'href="/games/{ids[-2]}/"' in newer


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", 2),
        ("result=open", 1),
        ("result=nonsense", 0),
        ("ladder=dogon-kulei", 2),
        ("ladder=chess", 0),
        ("bot=0", 2),
    ],
)
def test_filters_are_in_the_address(site: Site, client: Client, query: str, shown: int) -> None:
    page = client.get(f"/tournaments/spring/?{query}")
    assert len(page.context["page"].rows) == shown


def test_games_are_filtered_by_bot(site: Site, client: Client) -> None:
    assert len(client.get(f"/tournaments/spring/?bot={site.white.pk}").context["page"].rows) == 2
    assert len(client.get("/tournaments/spring/?bot=999999").context["page"].rows) == 0


def test_games_of_a_bot_among_very_many_are_listed_by_their_ends(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = [add_version(None, f"bot {n}") for n in range(3)]
    big = round_robin(None, "Big", versions, pairs=4)
    start(big)
    own = big.games.filter(Q(white=versions[0]) | Q(black=versions[0]))
    ids = list(own.order_by("id").values_list("id", flat=True))
    claimed, halted, done = ids[0], ids[1], ids[2:-1]
    Game.objects.filter(pk=claimed).update(state=Game.State.CLAIMED, attempt=uuid.uuid4())
    Game.objects.filter(pk=halted).update(state=Game.State.HALTED)
    Tournament.objects.filter(pk=big.pk).update(games_total=big.games.count())
    for sequence, pk in enumerate(done, start=2):
        finish(Game.objects.get(pk=pk), sequence=sequence)
        end = timezone.now() - datetime.timedelta(hours=sequence * 5 % 7)
        Game.objects.filter(pk=pk).update(finished_at=end)
        seat(pk=pk)
    expected = list(own.done().order_by("-finished_at").values_list("id", flat=True))
    monkeypatch.setattr(tournaments, "MANY_GAMES", 0)
    monkeypatch.setattr(tournaments, "GAMES_A_PAGE", 4)
    address = f"/tournaments/big/?bot={versions[0].pk}"
    page = client.get(address).context["page"]
    assert [game.pk for game in page.rows] == [halted, claimed, *expected[:4]]
    found, query = expected[:4], page.next
    while query:
        page = client.get(f"/tournaments/big/{query}").context["page"]
        found, query = found + [game.pk for game in page.rows], page.next
    assert found == expected
    assert len(client.get(f"{address}&result=all").context["page"].rows) == 4
    assert [game.pk for game in client.get(f"{address}&result=halted").context["page"].rows] == [halted]


def test_a_poll_with_nothing_new_is_answered_without_content(site: Site, client: Client) -> None:
    assert client.get("/tournaments/spring/?seen=running-1-2-0", headers=PART).status_code == 204


def test_a_poll_with_changes_returns_them_and_polling_continues(site: Site, client: Client) -> None:
    fragment = client.get(
        "/tournaments/spring/?ladder=dogon-kulei&seen=running-0-2", headers=PART
    ).content.decode()
    assert 'id="live"' in fragment
    assert "<html" not in fragment
    assert followed_address(fragment) == "/tournaments/spring/?ladder=dogon-kulei&seen=running-1-2-0"


def test_a_tournament_that_ended_is_loaded_anew_and_polls_no_more(site: Site, client: Client) -> None:
    Tournament.objects.filter(slug="spring").update(state="finished")
    assert client.get("/tournaments/spring/?seen=running-1-2-0", headers=PART)["X-Reload"] == "true"
    assert followed_address(client.get("/tournaments/spring/").content.decode()) == ""


def test_the_records_of_a_tournament_are_streamed_and_can_be_read(site: Site, client: Client) -> None:
    finish(Game.objects.get(pk=site.live.pk), 2)
    response = client.get("/tournaments/spring/records.pgn")
    assert response.streaming
    assert response["Content-Disposition"] == 'attachment; filename="spring.pgn"'
    text = response.getvalue().decode()
    assert [type(record) for record in read_records(text.splitlines(), "spring")] == [Record, Record]


def test_a_draft_shows_its_owner_the_cost(site: Site, as_user: LogIn) -> None:
    page = as_user(site.owner).get(f"/tournaments/{site.draft.slug}/").content.decode()
    assert "2 games</b>, about" in page
    assert 'class="estimate"' not in as_user(site.owner).get("/tournaments/spring/").content.decode()


def test_a_large_tournament_shows_its_meetings_only_when_asked(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tournaments, "MAX_CROSSED", 1)
    standings = client.get("/tournaments/spring/")
    assert [row.cells for row in standings.context["crosses"][0].rows] == [[], []]
    assert 'href="/tournaments/spring/?table=full"' in standings.content.decode()
    assert standings.context["follow"]
    full = client.get("/tournaments/spring/?table=full")
    assert [len(row.cells) for row in full.context["crosses"][0].rows] == [2, 2]
    assert not full.context["follow"]


def test_a_game_given_out_is_up_next_until_its_first_moves_arrive(site: Site, client: Client) -> None:
    assert ">live</a>" in client.get("/tournaments/spring/").content.decode()
    LiveGame.objects.all().delete()
    assert ">up next</a>" in client.get("/tournaments/spring/").content.decode()


def test_the_form_makes_a_draft_that_its_owner_starts_and_cancels(site: Site, as_user: LogIn) -> None:
    client = as_user(site.rival)
    assert client.post("/tournaments/new/", form(site)).status_code == 302
    draft = Tournament.objects.get(name="Autumn")
    assert (draft.state, draft.owner, draft.games_total, draft.seed) == ("draft", site.rival, 4, 7)
    client.post(f"/tournaments/{draft.slug}/start/")
    draft.refresh_from_db()
    assert draft.state == "running"
    client.post(f"/tournaments/{draft.slug}/cancel/")
    draft.refresh_from_db()
    assert draft.state == "cancelled"


@pytest.mark.parametrize("name", ["new", "New!", "日本", "../.."])
def test_a_tournament_can_be_reached_with_any_name(site: Site, as_user: LogIn, name: str) -> None:
    client = as_user(site.owner)
    client.post("/tournaments/new/", form(site, name=name))
    draft = Tournament.objects.get(name=name)
    response = client.get(draft.get_absolute_url())
    assert response.context["tournament"] == draft


def test_starting_twice_shows_a_message_and_changes_nothing(site: Site, as_user: LogIn) -> None:
    page = as_user(site.owner).post("/tournaments/spring/start/", follow=True).content.decode()
    assert "only a draft or an announced tournament can be started" in page


BAD_FIELDS: list[tuple[str, Any, str]] = [
    ("name", "", "This field is required."),
    ("name", "x" * 81, "at most 80"),
    ("bots", [], "Choose at least two bots."),
    ("bots", ["999999"], "Bot 999999 is not among those offered."),
    ("bots", ["x"], "is not a valid value"),
    ("bots", ["9" * 40], "is not among those offered."),
    ("name", "a\u202eb", "'a\\u202eb' contains an invisible character."),
    ("name", "a\x07b", "'a\\x07b' contains an invisible character."),
    ("ladders", [], "Choose at least one ladder."),
    ("ladders", ["chess"], "There is no ladder chess."),
    ("pairs", "0", "greater than or equal to 1"),
    ("pairs", "1001", "less than or equal to 1000"),
    ("pairs", "two", "Enter a whole number."),
    ("time_control", "soon", "Cannot read"),
    ("time_control", "0+0", "must be over 0"),
    ("opening_plies", "-1", "greater than or equal to 0"),
    ("opening_plies", "41", "less than or equal to 40"),
    ("seed", "1e9", "Enter a whole number."),
    ("seed", "-5", "greater than or equal to 0"),
]


def test_each_bad_field_gets_one_sentence_and_nothing_is_stored(site: Site, as_user: LogIn) -> None:
    before, client = Tournament.objects.count(), as_user(site.owner)
    for field, value, sentence in BAD_FIELDS:
        response = client.post("/tournaments/new/", form(site, **{field: value}))
        assert response.status_code == 200
        errors = response.context["form"].errors
        assert list(errors) == [field], (field, value)
        assert len(errors[field]) == 1
        assert sentence in errors[field][0]
        assert f'id="id_{field}_error"' in response.content.decode()
    assert Tournament.objects.count() == before


def test_one_bot_alone_is_no_tournament(site: Site, as_user: LogIn) -> None:
    response = as_user(site.owner).post("/tournaments/new/", form(site, bots=[site.white.pk]))
    assert response.context["form"].errors["bots"] == ["Choose at least two bots."]


def test_a_ladder_needs_two_bots_that_play_it(site: Site, as_user: LogIn) -> None:
    only = add_version(site.owner, "Kulei only", games=["dogon-kulei"])
    response = as_user(site.owner).post(
        "/tournaments/new/", form(site, bots=[site.white.pk, only.pk], ladders=["dualma"])
    )
    assert response.context["form"].errors["ladders"] == ["Fewer than two of these bots play DuAlma."]


def test_too_many_games_are_refused_beside_the_pairs(site: Site, as_user: LogIn) -> None:
    bots = [add_version(None, f"bot {n}").pk for n in range(12)]
    response = as_user(site.owner).post("/tournaments/new/", form(site, bots=bots, pairs=1000))
    assert "too many" in response.context["form"].errors["pairs"][0]


def test_the_estimate_shows_games_and_duration(site: Site, as_user: LogIn) -> None:
    page = as_user(site.owner).post("/tournaments/new/", form(site), headers=PART).content.decode()
    assert "4 games</b>, about" in page
    assert Tournament.objects.filter(name="Autumn").count() == 0


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"time_control": "5+0.1", "opening_plies": 4}, "Rated: yes."),
        ({"time_control": "5+0.1", "opening_plies": 4, "rated": ""}, "Rated: no."),
        ({"time_control": "5+0.1"}, "Rated: no: the openings are not on the ladder's terms (Dogon kulei)."),
        ({}, "Rated: no: the time control is not on the ladder's terms (Dogon kulei)."),
        ({"bots": [], "entry_until": "2096-01-01T00:00"}, "Rated: no: the time control is not"),
    ],
)
def test_the_form_says_before_the_start_which_games_are_rated(
    site: Site, as_user: LogIn, changed: dict[str, Any], said: str
) -> None:
    page = as_user(site.rival).post("/tournaments/new/", form(site, **changed), headers=PART)
    text = html.unescape(page.content.decode())
    assert said in text
    assert ("Dogon kulei 5+0.05 to 20+0.2, 4 random opening plies" in text) == (
        "Rated: yes" not in text and "Rated: no." not in text
    )


def test_only_staff_rates_on_other_terms(site: Site, as_user: LogIn) -> None:
    for user, offered in ((site.rival, False), (site.staff, True)):
        client = as_user(user)
        assert ("rated_off_terms" in client.get("/tournaments/new/").content.decode()) == offered
        client.post("/tournaments/new/", form(site, name=user.username, rated_off_terms="on"))
        draft = Tournament.objects.get(name=user.username)
        assert (draft.rated_off_terms, draft.is_rated) == (offered, offered)
        if offered:
            Tournament.objects.filter(pk=draft.pk).update(owner=site.rival)
            changed = form(site, name="Mine", rated_off_terms="on")
            as_user(site.rival).post(f"/tournaments/{draft.slug}/change/", changed)
            draft.refresh_from_db()
            assert (draft.name, draft.is_rated) == ("Mine", False)


def test_the_estimate_waits_for_a_form_that_can_be_read(site: Site, as_user: LogIn) -> None:
    page = as_user(site.owner).post("/tournaments/new/", form(site, pairs=""), headers=PART).content.decode()
    assert "Once the form is complete" in page


@pytest.mark.parametrize(("points", "shown"), [(0, "0"), (0.5, "½"), (3, "3"), (3.5, "3½")])
def test_points_are_written_as_chess_players_do(points: float, shown: str) -> None:
    assert format_points(points) == shown


def test_a_ladder_s_page_shows_who_plays_and_the_games_without_a_table(
    site: Site, client: Client, settings: Settings, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    settings.LADDER_GAMES = 60
    make_worker()
    site.running.delete()
    tend()
    with django_assert_max_num_queries(7):
        page = client.get(f"/tournaments/ladder-{LADDER}/?result=open").content.decode()
    assert "0 games so far" in page
    assert "Crosstable" not in page
    assert "<progress" not in page
    assert page.count("waiting") == 2
    assert "matchmaker" in page
    assert "&lt;b&gt;Rival&lt;/b&gt;" in page
    assert "Dogon kulei ladder" not in client.get("/tournaments/").content.decode()
    assert "Dogon kulei ladder" not in client.get("/").content.decode()  # none of its games is played yet


def test_staff_pauses_a_ladder_and_nobody_cancels_it(site: Site, as_user: LogIn, settings: Settings) -> None:
    settings.LADDER_GAMES = 60
    make_worker()
    site.running.delete()
    tend()
    address = f"/tournaments/ladder-{LADDER}/"
    page = as_user(site.staff).get(address).content.decode()
    assert "Pause" in page
    assert "Cancel the tournament" not in page
    assert "Extend" not in page
    assert "Pause" not in as_user(site.owner).get(address).content.decode()
    as_user(site.staff).post(f"{address}cancel/")
    assert Tournament.objects.get(slug=f"ladder-{LADDER}").state == "running"
    as_user(site.staff).post(f"{address}pause/")
    assert Tournament.objects.get(slug=f"ladder-{LADDER}").state == "paused"


def test_the_address_of_a_draft_leads_to_the_started_tournament(site: Site, client: Client) -> None:
    client.force_login(site.owner)
    draft = client.post("/tournaments/new/", form(site))["Location"]
    started = client.post(f"{draft}start/")["Location"]
    assert (client.get(draft).status_code, started) == (302, "/tournaments/autumn/")
    assert client.get(draft)["Location"] == started
    again = client.post(f"{draft}start/", follow=True)
    assert again.redirect_chain == [(started, 302)]
    assert "is running, only a draft or an announced tournament can be started." in again.content.decode()
    assert Client().get(draft)["Location"] == started
    assert Client().get("/tournaments/draft-0123456789abcdef/").status_code == 404


def test_the_address_of_a_draft_that_was_cancelled_stays_private(site: Site, client: Client) -> None:
    client.force_login(site.owner)
    draft = client.post("/tournaments/new/", form(site))["Location"]
    client.post(f"{draft}cancel/")
    assert client.get(draft).status_code == 200
    assert Client().get(draft).status_code == 404


@pytest.mark.parametrize("kind", ["round-robin", "gauntlet"])
def test_a_version_that_became_active_after_the_form_was_drawn_takes_part(
    site: Site, client: Client, kind: str
) -> None:
    client.force_login(site.owner)
    sent = form(site, kind=kind, challenger=site.white.pk)
    third = add_version(None, "Third")
    newer = add_version(site.owner, site.white.bot.name)
    client.post("/tournaments/new/", sent | {"bots": [*sent["bots"], third.pk]})
    draft = Tournament.objects.get(name="Autumn")
    assert {entry.version for entry in draft.entries.all()} == {newer, site.black, third}


def test_a_refused_form_keeps_the_bots_although_one_was_replaced_and_one_has_ended(
    site: Site, client: Client
) -> None:
    client.force_login(site.owner)
    gone, kept = add_version(None, "Gone"), add_version(None, "Kept")
    newer = add_version(site.owner, site.white.bot.name)
    withdraw(gone, "it is gone", "")
    sent = form(site, bots=[site.white.pk, gone.pk, kept.pk])
    page = client.post("/tournaments/new/", sent).content.decode()
    text = re.sub("[\u2066-\u2069]", "", html.unescape(page))
    assert "Gone v1 can no longer be chosen: no version of its bot is active." in text
    checked = re.findall(r'name="bots" value="(\d+)"[^>]* checked', page)
    assert sorted(map(int, checked)) == sorted([newer.pk, kept.pk])


def test_the_list_shows_what_a_tournament_is_and_who_won(site: Site, as_user: LogIn) -> None:
    versions = [add_version(site.owner, f"A bot with a long name {number}") for number in range(4)]
    cup = decide_games(
        make_event("knock-out", versions=versions, owner=site.owner, ladders=[LADDER], name="Cup")
    )
    winners: list[int] = OwnRatings.objects.get(tournament=cup).winners
    (won,) = winners
    (winner,) = [version.bot.name[-5:] for version in versions if version.pk == won]
    shown = f"<span>{winner}</span>"
    client = as_user(site.owner)
    for address in ("/tournaments/", "/account/", f"/people/{site.owner.username}/"):
        (row,) = [
            row
            for row in client.get(address).content.decode().split("<tr>")
            if 'href="/tournaments/cup/"><bdi>' in row
        ]
        assert "knock-out" in row
        assert "Dogon kulei" in row
        assert '<td class="num less">4</td>' in row
        assert f">{cup.games_done}</span>" in row
        assert f"<span>A bot with a long n</span>{shown}" in row
    OwnRatings.objects.all().delete()
    assert shown not in client.get("/tournaments/").content.decode()
    assert refresh_ratings(timezone.now()) > 0
    assert shown in client.get("/tournaments/").content.decode()


def test_the_bots_to_choose_from_have_owner_and_rating_the_best_first(site: Site, as_user: LogIn) -> None:
    add_version(site.owner, "Unrated")
    LadderRating.objects.filter(version=site.black).update(conservative=17.25)
    LadderRating.objects.create(
        version=site.black, ladder_id="dualma", mu=30, sigma=3, conservative=21, games=1, wins=1
    )
    page = as_user(site.owner).get("/tournaments/new/").content.decode()
    items = re.findall(r'<li data-owner="([^"]*)" data-ratings="([^"]*)"', page)
    assert [json.loads(html.unescape(ratings)) for _, ratings in items] == [
        {LADDER: 17.25, "dualma": 21.0},
        {LADDER: 10.0},
        {},
    ]
    assert "rita · 21.0</small>" in page
    assert {"olga", "rita"} <= {owner for owner, _ in items}
    assert 'data-mine="olga"' in page


def test_a_small_swiss_shows_all_rounds_and_a_large_one_the_latest(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = [add_version(site.owner, f"S{number}") for number in range(4)]
    decide_games(make_event("swiss", versions=versions, ladders=[LADDER], name="Open", rounds=3))
    page = client.get("/tournaments/open/").content.decode()
    assert re.findall("<h3>(.*)</h3>", page) == ["Round 3", "Round 2", "Round 1"]
    monkeypatch.setattr(meetings, "MAX_MEETINGS", 5)
    page = client.get("/tournaments/open/").content.decode()
    assert re.findall("<h3>(.*)</h3>", page) == ["Round 3"]
    assert "?round=1" in page
    assert re.findall("<h3>(.*)</h3>", client.get("/tournaments/open/?round=1").content.decode()) == [
        "Round 1"
    ]


def test_cancelling_is_explained_and_can_be_undone_for_a_day(site: Site, as_user: LogIn) -> None:
    owner, page = as_user(site.owner), "/tournaments/spring/"
    asked = owner.get(page).content.decode()
    assert "For 24 hours you can continue it." in asked
    assert "{#" not in asked
    assert "Continue it" not in asked
    owner.post(f"{page}cancel/")
    assert "Continue it" in owner.get(page).content.decode()
    assert "Continue it" not in Client().get(page).content.decode()
    assert as_user(site.rival).post(f"{page}continue/").status_code == 404
    done = owner.post(f"{page}continue/", follow=True).content.decode()
    assert "The tournament continues." in done
    assert "1 of 2 games" in done
    Tournament.objects.filter(slug="spring").update(
        state="cancelled", finished_at=timezone.now() - datetime.timedelta(days=2)
    )
    assert "Continue it" not in owner.get(page).content.decode()
    late = owner.post(f"{page}continue/", follow=True).content.decode()
    assert "A tournament can be continued for 24 hours after it was cancelled" in late


def test_form_event_and_game_say_why_games_of_one_owner_are_not_rated(site: Site, as_user: LogIn) -> None:
    client, other = as_user(site.owner), add_version(site.owner, "Iron Age")
    why = "both bots have one owner"
    own = form(site, bots=[site.white.pk, other.pk])
    drawn = client.post("/tournaments/new/", own, headers=PART).content.decode()
    assert f"Rated: no: in every game {why}." in drawn
    unrated = {name: value for name, value in own.items() if name != "rated"}
    assert why not in client.post("/tournaments/new/", unrated, headers=PART).content.decode()
    assert why not in client.post("/tournaments/new/", form(site), headers=PART).content.decode()
    draft = client.post("/tournaments/new/", own)["Location"]
    cup = Tournament.objects.latest("pk")
    assert f"<dd>no: in every game {why} (" in client.get(draft).content.decode()
    start(cup)
    decide_games(cup)
    game = cup.games.latest("pk")
    assert f"<dd>no: {why}</dd>" in client.get(f"/games/{game.pk}/").content.decode()


def test_a_game_says_that_it_repeats_another_or_that_its_tournament_is_not_rated(
    site: Site, client: Client
) -> None:
    game, page = site.played, f"/games/{site.played.pk}/"
    assert "<dt>Rated</dt> <dd>yes; staff rates it although the time control" in " ".join(
        client.get(page).content.decode().split()
    )
    Game.objects.filter(pk=game.pk).update(rated=False)
    assert "<dd>no: it repeats an earlier game move by move</dd>" in client.get(page).content.decode()
    Tournament.objects.filter(pk=game.tournament_id).update(rated=False)
    assert "<dd>no: the round robin is not rated</dd>" in client.get(page).content.decode()
