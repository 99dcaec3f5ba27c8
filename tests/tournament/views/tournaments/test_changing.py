"""The form that changes a tournament before its start, and the buttons that remove entries."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from django.utils import timezone

from tests.support.filled_site import LADDER, LogIn, Site, add_version
from tests.support.schedule import make_event
from tournament.models import Act, Tournament
from tournament.services.results.withdrawal import withdraw
from tournament.services.schedule.entries import enter
from tournament.services.schedule.terms import stored_terms
from tournament.services.schedule.tournaments import announce, start
from tournament.views.tournaments import organizing


@pytest.fixture
def cup(site: Site) -> Tournament:
    versions = [add_version(site.owner, f"Bot {number}") for number in range(1, 4)]
    times: dict[str, Any] = {
        "starts_at": (timezone.now() + datetime.timedelta(days=1)).replace(second=0, microsecond=0)
    }
    terms: dict[str, Any] = {"ladders": [LADDER], "rounds": 4, "rated": False, "rated_off_terms": False}
    return make_event(
        "swiss", versions=versions, name="Cup", owner=site.rival, running=False, **terms, **times
    )


def values_of(page: Any) -> dict[str, Any]:
    """What a browser posts of the form as it is drawn."""
    form = page.context["form"]
    values = {name: form[name].value() for name, field in form.fields.items() if not field.disabled}
    values = {name: value for name, value in values.items() if value is not None and value is not False}
    times = {
        name: value.strftime("%Y-%m-%dT%H:%M")
        for name, value in values.items()
        if isinstance(value, datetime.datetime)
    }
    return values | times


@pytest.mark.parametrize("is_announced", [False, True])
def test_the_form_shows_what_is_stored_and_changes_it(
    cup: Tournament, site: Site, as_user: LogIn, is_announced: bool
) -> None:
    if is_announced:
        announce(cup)
    client, address = as_user(site.rival), f"{cup.get_absolute_url()}change/"
    assert f'href="{address}"' in client.get(cup.get_absolute_url()).content.decode()
    before = Tournament.objects.filter(pk=cup.pk).values().get()
    page = client.get(address)
    assert client.post(address, values_of(page)).status_code == 302
    assert Tournament.objects.filter(pk=cup.pk).values().get() == before
    changed = {"name": "Grand cup", "rounds": "3", "time_control": "7+0", "rated": "on"}
    response = client.post(address, values_of(page) | changed, follow=True)
    assert "The tournament is changed." in response.content.decode()
    cup.refresh_from_db()
    assert (cup.name, cup.rounds, cup.time_control, cup.rated) == ("Grand cup", 3, "7+0", True)
    assert not Act.objects.exists()


def test_a_refused_form_keeps_what_was_typed(cup: Tournament, site: Site, as_user: LogIn) -> None:
    announce(cup)
    client, address = as_user(site.rival), f"{cup.get_absolute_url()}change/"
    values = values_of(client.get(address)) | {"name": "Typed name", "starts_at": "2020-01-01T10:00"}
    page = client.post(address, values)
    assert page.context["form"].errors == {"starts_at": ["Must be in the future."]}
    assert 'value="Typed name"' in page.content.decode()
    start(cup)
    page = client.post(address, values, follow=True)
    assert "Only before its start can a tournament be changed." in page.content.decode()


def test_a_start_while_the_form_is_saved_is_told_above_it(
    cup: Tournament, site: Site, as_user: LogIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, address = as_user(site.rival), f"{cup.get_absolute_url()}change/"
    values = values_of(client.get(address))

    def start_meanwhile(tournament: Tournament, versions: Any) -> Any:
        start(Tournament.objects.get(pk=tournament.pk))
        return stored_terms(tournament, versions)

    monkeypatch.setattr(organizing, "stored_terms", start_meanwhile)
    page = client.post(address, values)
    assert "only before its start can it be changed" in str(page.context["form"].non_field_errors())


def test_bots_entered_by_their_owners_are_not_in_the_form_and_can_be_removed(
    cup: Tournament, site: Site, as_user: LogIn
) -> None:
    later = timezone.now() + datetime.timedelta(hours=1)
    Tournament.objects.filter(pk=cup.pk).update(entry_until=later.replace(second=0, microsecond=0))
    announce(cup)
    client, address = as_user(site.rival), f"{cup.get_absolute_url()}change/"
    page = client.get(address)
    assert "bots" not in page.context["form"].fields
    enter(cup, add_version(site.owner, "Late").bot)
    assert client.post(address, values_of(page) | {"time_control": "7+0"}).status_code == 302
    assert cup.entries.count() == 4
    assert "Remove an entry" in client.get(cup.get_absolute_url()).content.decode()
    assert "Remove an entry" not in as_user(site.owner).get(cup.get_absolute_url()).content.decode()
    client = as_user(site.rival)
    client.post(f"{cup.get_absolute_url()}remove/late/")
    assert not cup.entries.filter(version__bot__name="Late").exists()


def test_staff_changes_a_tournament_in_the_organizer_s_place_which_is_logged(
    cup: Tournament, site: Site, as_user: LogIn
) -> None:
    client, address = as_user(site.staff), f"{cup.get_absolute_url()}change/"
    client.post(address, values_of(client.get(address)) | {"time_control": "7+0"})
    client.post(f"{cup.get_absolute_url()}remove/bot-3/")
    assert list(Act.objects.order_by("pk").values_list("deed", flat=True)) == [
        "changed it",
        "removed the bot Bot 3",
    ]


def test_a_version_that_was_switched_off_stays_in_the_draft_it_was_chosen_for(
    cup: Tournament, site: Site, as_user: LogIn
) -> None:
    version = cup.entries.all()[0].version
    version.activities.update(enabled=False)
    client, address = as_user(site.rival), f"{cup.get_absolute_url()}change/"
    assert client.post(address, values_of(client.get(address))).status_code == 302
    assert cup.entries.filter(version=version).exists()


def test_the_form_offers_no_other_challenger_while_that_of_a_gauntlet_is_withdrawn(
    site: Site, as_user: LogIn
) -> None:
    versions = [add_version(site.owner, f"Bot {number}") for number in range(1, 5)]
    gauntlet = make_event("gauntlet", versions=versions, owner=site.rival, running=False, ladders=[LADDER])
    withdraw(versions[0], "it is replaced")
    client, address = as_user(site.rival), f"{gauntlet.get_absolute_url()}change/"
    values = values_of(client.get(address))
    assert "challenger" not in values
    client.post(address, values | {"bots": [versions[2].pk, versions[3].pk]})
    entered = gauntlet.entries.order_by("number").values_list("version__bot__name", flat=True)
    assert list(entered) == ["Bot 1", "Bot 3", "Bot 4"]


def test_the_form_of_a_new_tournament_copies_any_event(cup: Tournament, site: Site, as_user: LogIn) -> None:
    start(cup)
    client = as_user(site.owner)
    address = f"/tournaments/new/?like={cup.slug}"
    assert address in client.get(cup.get_absolute_url()).content.decode()
    form = client.get(address)
    values = values_of(form)
    assert "seed" not in values  # the same openings would repeat games
    answer = client.post(address, values)
    copy = Tournament.objects.latest("pk")
    assert (answer.status_code, copy.state, copy.owner) == (302, "draft", site.owner)
    same = ("name", "kind", "ladders", "pairs", "rounds", "opening_plies", "time_control", "rated")
    assert [getattr(copy, name) for name in same] == [getattr(cup, name) for name in same]
    assert (copy.starts_at, copy.entry_until) == (None, None)
    versions = [list(one.entries.values_list("version", flat=True)) for one in (copy, cup)]
    assert sorted(versions[0]) == sorted(versions[1])


def test_a_copy_has_the_active_versions_and_says_which_bots_have_none(
    cup: Tournament, site: Site, as_user: LogIn
) -> None:
    first, second, third = (entry.version for entry in cup.entries.order_by("number"))
    newer = add_version(site.owner, first.bot.name)
    withdraw(second, "its owner withdrew it", "Withdrawn.")
    page = as_user(site.rival).get(f"/tournaments/new/?like={cup.slug}")
    assert page.context["form"]["bots"].value() == [newer.pk, third.pk]
    assert f"Not chosen: <bdi>{second.bot.name}</bdi> has no active version." in page.content.decode()


def test_a_copied_gauntlet_without_its_challenger_asks_for_another(site: Site, as_user: LogIn) -> None:
    versions = [add_version(site.owner, f"Bot {number}") for number in range(1, 4)]
    duel = make_event("gauntlet", versions=versions, name="Duel", ladders=[LADDER])
    withdraw(versions[0], "its owner withdrew it", "Withdrawn.")
    page = as_user(site.rival).get(f"/tournaments/new/?like={duel.slug}")
    assert page.context["form"]["challenger"].value() is None


def test_only_what_the_visitor_may_see_and_the_form_makes_is_copied(
    cup: Tournament, site: Site, as_user: LogIn
) -> None:
    assert as_user(site.owner).get(f"/tournaments/new/?like={cup.slug}").status_code == 404  # a draft
    for slug in ("", "nothing", "%00", site.validation.slug):
        assert as_user(site.staff).get(f"/tournaments/new/?like={slug}").status_code == 404
