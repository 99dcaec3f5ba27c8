"""Pages of gauntlets, Swiss events and knock-outs, and what organizers and owners do on them."""

from __future__ import annotations

import datetime
import html
import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from engines.rules.base import Result
from tests.support.filled_site import LADDER, LogIn, Site, add_version
from tests.support.schedule import Deal, make_event, play_short, record
from tournament.models import Ladder, Tournament
from tournament.services.calendar import tend
from tournament.services.schedule.tournaments import announce
from workers.jobs import GameJob

SOON = timezone.now() + datetime.timedelta(days=1)


@pytest.fixture
def bots(site: Site) -> list[Any]:
    Tournament.objects.exclude(state="draft").update(state="cancelled")  # only what a test makes is played
    Ladder.objects.update(sequence=1)  # its one game was recorded by hand
    return [add_version(None, f"Bot {number}") for number in range(1, 6)]


def play(event: Tournament, deal: Deal, rounds: int) -> None:
    """Bots with lower numbers win."""

    def result(job: GameJob, game: Any) -> Result:
        white, black = job.engines[game.white], job.engines[1 - game.white]
        return Result.WHITE_WINS if white.name < black.name else Result.BLACK_WINS

    for _ in range(rounds):
        while jobs := deal():
            for job in jobs:
                for report in play_short(job, result):
                    record(report)
        tend()


def test_a_swiss_shows_its_standings_and_each_round(bots: list[Any], client: Client, deal: Deal) -> None:
    event = make_event("swiss", versions=bots, ladders=[LADDER], rounds=2)
    play(event, deal, 2)
    (cross,) = client.get(event.get_absolute_url()).context["crosses"]
    assert [heading for heading, _ in cross.headings] == ["Buch.", "SB"]
    rows = [(row.version.bot.name, row.rank, row.points, row.byes) for row in cross.rows]
    assert rows == [
        ("Bot 1", 1, "4", 0),
        ("Bot 2", 2, "2", 0),
        ("Bot 3", 2, "2", 0),
        ("Bot 4", 4, "2", 1),
        ("Bot 5", 4, "2", 1),
    ]
    assert [row.criteria for row in cross.rows] == [
        ["4", "8"],
        ["6", "4"],
        ["6", "4"],
        ["4", "4"],
        ["4", "4"],
    ]
    latest, first = cross.rounds
    assert first.name == "Round 1"
    assert (latest.name, [meeting.note for meeting in latest.meetings]) == ("Round 2", ["", "", "bye"])
    assert cross.made == [1, 2]
    (cross,) = client.get(f"{event.get_absolute_url()}?round=1").context["crosses"]
    assert [(m.first.shown, m.second and m.second.shown) for m in cross.rounds[0].meetings] == [
        ("2", "0"),
        ("2", "0"),
        ("", None),
    ]
    assert client.get(f"{event.get_absolute_url()}?round=9").context["crosses"][0].rounds == []


def test_a_knock_out_shows_its_bracket(bots: list[Any], client: Client, deal: Deal) -> None:
    event = make_event("knock-out", versions=bots, ladders=[LADDER])
    play(event, deal, 2)
    page = client.get(event.get_absolute_url())
    (cross,) = page.context["crosses"]
    assert [drawn.name for drawn in cross.rounds] == ["Quarter-finals", "Semi-finals", "Final"]
    assert [meeting.note for meeting in cross.rounds[0].meetings] == ["bye", "", "bye", "bye"]
    (final,) = cross.rounds[-1].meetings
    assert [final.first.version.bot.name, final.second.version.bot.name] == ["Bot 1", "Bot 2"]
    play(event, deal, 1)
    (cross,) = client.get(event.get_absolute_url()).context["crosses"]
    assert [row.rank for row in cross.rows] == [1, 2, 3, 3, 5]
    assert "Bracket of" in page.content.decode()


@pytest.mark.parametrize("kind", ["gauntlet", "swiss", "knock-out"])
def test_a_draft_of_each_format_has_a_page(bots: list[Any], as_user: LogIn, site: Site, kind: str) -> None:
    event = make_event(str(kind), versions=bots, ladders=[LADDER], running=False, owner=site.owner)
    page = as_user(site.owner).get(event.get_absolute_url())
    assert page.status_code == 200
    (cross,) = page.context["crosses"]
    assert len(cross.rows) == (4 if cross.challenger else 5)


def sent(bots: list[Any], **changed: Any) -> dict[str, Any]:
    return {
        "name": "Autumn",
        "bots": [bot.pk for bot in bots],
        "ladders": [LADDER],
        "pairs": 2,
        "time_control": "60+0.5",
        "opening_plies": 2,
        "seed": 7,
        **changed,
    }


@pytest.mark.parametrize(
    ("fields", "games"),
    [
        ({"kind": "gauntlet"}, 16),
        ({"kind": "swiss", "rounds": 3}, 24),
        ({"kind": "knock-out", "extra_pairs": 2}, 16),
        ({"kind": "round-robin"}, 40),
    ],
)
def test_the_form_makes_each_format_and_shows_its_number_of_games(
    bots: list[Any], as_user: LogIn, site: Site, fields: dict[str, Any], games: int
) -> None:
    client, data = as_user(site.owner), sent(bots, challenger=bots[3].pk, **fields)
    estimate = client.post("/tournaments/new/", data, headers={"X-Part": "true"}).content.decode()
    assert f"{games} games</b>" in estimate
    assert client.post("/tournaments/new/", data).status_code == 302
    draft = Tournament.objects.get(name="Autumn")
    assert draft.kind == fields["kind"]
    first = draft.entries.get(number=1).version
    assert first == (bots[3] if draft.kind == "gauntlet" else bots[0])


@pytest.mark.parametrize(
    ("field", "changed", "sentence"),
    [
        ("challenger", {"kind": "gauntlet"}, "Choose the bot that meets all others."),
        ("challenger", {"kind": "gauntlet", "challenger": "9" * 40}, "No version of this bot is active."),
        ("rounds", {"kind": "swiss"}, "Enter the number of rounds of the Swiss."),
        ("rounds", {"kind": "swiss", "rounds": 101}, "less than or equal to 100"),
        ("kind", {"kind": "lottery"}, "lottery is not one of the available choices"),
        ("starts_at", {"starts_at": "tomorrow"}, "Enter a valid date/time."),
    ],
)
def test_a_bad_field_of_a_format_gets_its_sentence(
    bots: list[Any], as_user: LogIn, site: Site, field: str, changed: dict[str, Any], sentence: str
) -> None:
    response = as_user(site.owner).post("/tournaments/new/", sent(bots, **changed))
    assert sentence in response.context["form"].errors[field][0]
    assert not Tournament.objects.filter(name="Autumn").exists()
    page = html.unescape(response.content.decode())
    label = response.context["form"][field].label
    assert re.search(
        rf'<li><a class="underlined" href="#id_{field}">{re.escape(label)}</a>: .*{re.escape(sentence)}', page
    )
    assert f' id="id_{field}"' in page


def test_a_missing_choice_of_bots_is_said_at_the_top_of_the_form(
    bots: list[Any], as_user: LogIn, site: Site
) -> None:
    page = as_user(site.owner).post("/tournaments/new/", sent([])).content.decode()
    top, _, fields = page.partition('id="id_name"')
    assert '<li><a class="underlined" href="#id_bots">Bots</a>: Choose at least two bots.</li>' in top
    assert 'id="id_bots"' in fields
    assert "Choose at least two bots." in fields


def test_fields_of_other_formats_are_not_read(bots: list[Any], as_user: LogIn, site: Site) -> None:
    """They are hidden, so their errors would be too."""
    data = sent(bots, rounds=500, extra_pairs="many", challenger="none")
    assert as_user(site.owner).post("/tournaments/new/", data).status_code == 302
    assert Tournament.objects.get(name="Autumn").rounds == 0


def test_owners_enter_and_withdraw_their_bots_on_the_page(site: Site, as_user: LogIn) -> None:
    owner, rival = as_user(site.owner), as_user(site.rival)
    until = SOON.strftime("%Y-%m-%dT%H:%M")
    owner.post("/tournaments/new/", sent([], name="Open", kind="swiss", rounds=3, entry_until=until))
    event = Tournament.objects.get(name="Open")
    address = event.get_absolute_url()
    assert rival.get(address).status_code == 404
    address = owner.post(f"{address}announce/")["Location"]
    form = rival.get(address).context["enter_form"]
    assert [bot.pk for bot in form.fields["bot"].queryset] == [site.black.bot_id]
    rival.post(f"{address}enter/", {"bot": site.white.bot_id})
    assert not event.entries.exists()
    page = rival.post(f"{address}enter/", {"bot": site.black.bot_id}, follow=True)
    assert [entry.version for entry in event.entries.all()] == [site.black]
    assert page.context["enter_form"] is None
    assert [bot.pk for bot in page.context["own_entries"]] == [site.black.bot_id]
    rival.post(f"{address}leave/{site.black.bot.slug}/")
    assert not event.entries.exists()


def test_an_organizer_pauses_resumes_and_extends(bots: list[Any], site: Site, as_user: LogIn) -> None:
    event = make_event("round-robin", versions=bots, ladders=[LADDER], owner=site.owner)
    client, address = as_user(site.owner), event.get_absolute_url()
    for action, state in (("pause", "paused"), ("resume", "running"), ("extend", "running")):
        client.post(f"{address}{action}/", {"more": 1})
        event.refresh_from_db()
        assert event.state == state
    assert event.pairs == 2
    page = client.post(f"{address}extend/", {"more": "many"}, follow=True).content.decode()
    assert "Must be from 3 to 1000, not 2." in page


def test_staff_sets_the_priority(bots: list[Any], site: Site, as_user: LogIn) -> None:
    event = make_event("round-robin", versions=bots, ladders=[LADDER])
    client = as_user(site.staff)
    client.post(f"{event.get_absolute_url()}priority/", {"priority": 9})
    page = client.post(f"{event.get_absolute_url()}priority/", {"priority": "x"}, follow=True)
    event.refresh_from_db()
    assert event.priority == 9
    assert "must be a whole number" in page.content.decode()


def test_a_tournament_that_could_not_start_shows_the_reason(site: Site, client: Client) -> None:
    event = make_event("swiss", versions=[site.white], running=False, ladders=[LADDER], entry_until=SOON)
    announce(event)
    tend(SOON)
    page = client.get(event.get_absolute_url()).content.decode()
    assert "It could not start: only" in page


@pytest.mark.django_db
@pytest.mark.parametrize("page", ["/formats/", "/protocol/", "/records/", "/kit/"])
def test_a_document_has_no_styles_of_its_own_which_the_policy_blocks(client: Client, page: str) -> None:
    assert "style=" not in client.get(page).content.decode()
