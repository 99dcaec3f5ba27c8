"""Who may enter a bot in events: owners decide, and every way into an event obeys."""

from __future__ import annotations

import datetime
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from tests.support.schedule import (
    Deal,
    all_drawn,
    make_event,
    make_test,
    make_user,
    make_version,
    record_short,
)
from tournament import access
from tournament.models import Bot, BotVersion, Tournament, User
from tournament.services.schedule.changing import change
from tournament.services.schedule.entries import enter
from tournament.services.schedule.tournaments import TournamentError, announce, extend, start, start_match

pytestmark = pytest.mark.django_db
DAY = datetime.timedelta(days=1)
MATRIX = [
    (setting, who, setting == "everybody" or who == "ada" or (setting == "staff" and who in {"stan", "site"}))
    for setting in Bot.EnteredBy.values
    for who in ("ada", "rita", "stan", "site")
]
"""Who may choose a bot of Ada's for own events with each setting."""
BY_PERSONS = pytest.mark.parametrize("case", [one for one in MATRIX if one[1] != "site"], indirect=True)


@pytest.fixture(params=MATRIX, ids=lambda case: f"{case[0]}-{case[1]}")
def case(request: pytest.FixtureRequest) -> tuple[BotVersion, User | None, bool]:
    """A version of a bot of Ada's, an organizer, and whether the organizer may choose the bot."""
    setting, who, may = request.param
    people = {name: make_user(name, staff=name == "stan") for name in ("ada", "rita", "stan")}
    ada = make_version("Ada", owner=people["ada"])
    let(ada, setting)
    return ada, people.get(who), may


def let(version: BotVersion, setting: str) -> None:
    Bot.objects.filter(pk=version.bot_id).update(entered_by=setting)


def entered(event: Tournament) -> list[str]:
    return [entry.version.bot.name for entry in event.entries.order_by("number")]


def draft(owner: User | None, *versions: BotVersion, kind: str = "round-robin", **terms: Any) -> Tournament:
    return make_event(kind, versions=versions, owner=owner, running=False, **terms)


def test_one_rule_says_who_may_choose_a_bot(case: tuple[BotVersion, User | None, bool]) -> None:
    version, organizer, may = case
    allowed = access.may_choose(organizer)
    assert Bot.objects.filter(allowed, pk=version.bot_id).exists() == may
    assert Bot.objects.exclude(allowed).filter(pk=version.bot_id).exists() == (not may)
    if organizer is not None:
        is_concerned = organizer.is_staff or organizer == version.bot.owner
        for chosen in (access.enterable_bots(organizer), access.testable_versions(organizer)):
            assert chosen.exists() == (may and is_concerned)


def test_an_event_is_created_and_changed_only_with_bots_that_may_be_chosen(
    case: tuple[BotVersion, User | None, bool],
) -> None:
    version, organizer, may = case
    others = [make_version(name) for name in ("Bob", "Cy")]
    event = draft(organizer, *others)
    if may:
        assert entered(draft(organizer, version, *others, name="Second")) == ["Ada", "Bob", "Cy"]
        change(event, lambda terms: replace(terms, versions=[*others, version]))
        return
    with pytest.raises(TournamentError, match="bots: 'Ada v1' can be entered by only"):
        draft(organizer, version, *others)
    with pytest.raises(TournamentError, match="bots: 'Ada v1' can be entered by only"):
        change(event, lambda terms: replace(terms, versions=[*others, version]))
    assert (Tournament.objects.count(), entered(event)) == (1, ["Bob", "Cy"])


@BY_PERSONS
def test_a_short_match_and_a_version_test_obey(case: tuple[BotVersion, User | None, bool]) -> None:
    version, organizer, may = case
    assert organizer is not None
    own, second = make_version("Own", owner=organizer), make_version("Ada", owner=version.bot.owner)
    match = partial(start_match, organizer, own, second)
    test = partial(make_test, organizer, baseline=version, candidate=second)
    for begin in (match, test):
        if may:
            assert begin().state == Tournament.State.RUNNING
        else:
            with pytest.raises(TournamentError, match="can be entered by only"):
                begin()


@BY_PERSONS
def test_the_form_offers_only_bots_that_may_be_chosen_and_says_why(
    case: tuple[BotVersion, User | None, bool], client: Client
) -> None:
    version, organizer, may = case
    assert organizer is not None
    bob = make_version("Bob", owner=None)
    setting = Bot.objects.get(pk=version.bot_id).get_entered_by_display()
    client.force_login(organizer)
    page = client.get("/tournaments/new/")
    offered = {pk for pk, _ in page.context["form"].fields["bots"].choices}
    assert (version.pk in offered, bob.pk in offered) == (may, True)
    text = page.content.decode()
    assert ("1 bot not offered" in text) == (not may)
    assert (f"<bdi>Ada</bdi></a> can be entered by {setting}." in text) == (not may)
    values = {"name": "Cup", "bots": [version.pk, bob.pk], "ladders": ["duploline"], "pairs": 1}
    values |= {"time_control": "5+0.1", "opening_plies": 4}
    answer = client.post("/tournaments/new/", values)
    assert answer.status_code == (302 if may else 200)
    assert may or "can no longer be chosen: its owner does not let you." in answer.content.decode()


@BY_PERSONS
def test_the_match_button_is_shown_only_where_a_match_may_be_started(
    case: tuple[BotVersion, User | None, bool], client: Client
) -> None:
    version, organizer, may = case
    assert organizer is not None
    make_version("Own", owner=organizer)
    client.force_login(organizer)
    assert ("A short match" in client.get(version.bot.get_absolute_url()).content.decode()) == may


def test_a_tournament_like_another_leaves_out_bots_that_may_not_be_chosen_any_more(client: Client) -> None:
    ada, rita = make_version("Ada", owner=make_user("ada")), make_user("rita")
    event = draft(rita, ada, make_version("Bob"), make_version("Cy"))
    let(ada, "owner")
    client.force_login(rita)
    page = client.get(f"/tournaments/new/?like={event.slug}")
    assert [one.bot.name for one in page.context["form"].entered] == ["Bob", "Cy"]
    assert "Not chosen: <bdi>Ada</bdi> can be entered by only its owner." in page.content.decode()


def test_a_start_leaves_out_bots_whose_owners_do_not_let_the_organizer_any_more() -> None:
    ada = make_version("Ada", owner=make_user("ada"))
    event = draft(make_user("rita"), ada, make_version("Bob"), make_version("Cy"))
    let(ada, "staff")
    start(event)
    assert entered(event) == ["Bob", "Cy"]
    reason = "it began without Ada v1, whose owner no longer lets others enter it"
    assert event.state_reason == reason
    assert not event.games.filter(white=ada).exists()


def test_a_gauntlet_does_not_start_without_its_challenger() -> None:
    ada = make_version("Ada", owner=make_user("ada"))
    event = draft(make_user("rita"), ada, make_version("Bob"), make_version("Cy"), kind="gauntlet")
    let(ada, "owner")
    with pytest.raises(TournamentError, match="'Ada v1' can be entered by only its owner"):
        start(event)
    event.refresh_from_db()
    assert (event.state, entered(event)) == (Tournament.State.DRAFT, ["Ada", "Bob", "Cy"])


@pytest.mark.parametrize("setting", Bot.EnteredBy.values)
def test_an_owner_enters_the_own_bot_anywhere_and_it_plays(setting: str) -> None:
    ada = make_version("Ada", owner=make_user("ada"))
    let(ada, setting)
    now = timezone.now()
    event = draft(make_user("rita"), make_version("Bob"), make_version("Cy"), entry_until=now + DAY)
    announce(event)
    enter(event, ada.bot, ada.bot.owner)
    dora = make_version("Dora")
    change(event, lambda terms: replace(terms, versions=[*terms.versions, dora], time_control="2+0"))
    start(event)
    assert entered(event) == ["Bob", "Cy", "Ada", "Dora"]
    assert event.games.filter(white=ada).exists()


@pytest.mark.parametrize(
    ("setting", "organizer", "may"),
    [
        ("everybody", "rita", True),
        ("staff", "rita", False),
        ("staff", "stan", True),
        ("owner", "stan", False),
    ],
)
def test_staff_enters_a_bot_of_another_only_in_events_of_those_who_may_choose_it(
    setting: str, organizer: str, may: bool, client: Client
) -> None:
    people = {name: make_user(name, staff=name == "stan") for name in ("ada", "rita", "stan")}
    ada = make_version("Ada", owner=people["ada"])
    let(ada, setting)
    event = draft(people[organizer], make_version("Bob"), entry_until=timezone.now() + DAY)
    announce(event)
    client.force_login(people["stan"])
    client.post(f"/tournaments/{event.slug}/enter/", {"bot": ada.bot_id})
    assert entered(event) == (["Bob", "Ada"] if may else ["Bob"])
    client.force_login(people["ada"])
    client.post(f"/tournaments/{event.slug}/enter/", {"bot": ada.bot_id})
    assert entered(event) == ["Bob", "Ada"]


def test_an_event_is_not_extended_with_a_bot_whose_owner_does_not_let_the_organizer_any_more(
    deal: Deal,
) -> None:
    ada = make_version("Ada", owner=make_user("ada"))
    event = make_event("round-robin", versions=[ada, make_version("Bob")], owner=make_user("rita"))
    let(ada, "owner")
    record_short(deal(), all_drawn)  # what has begun is played
    event.refresh_from_db()
    assert event.state == Tournament.State.FINISHED
    with pytest.raises(TournamentError, match="'Ada v1' can be entered by only its owner"):
        extend(event, 1)
    let(ada, "everybody")
    extend(event, 1)


def test_only_the_owner_and_staff_change_the_setting_and_its_page_says_it(client: Client) -> None:
    people = {name: make_user(name, staff=name == "stan") for name in ("ada", "rita", "stan")}
    bot = make_version("Ada", owner=people["ada"]).bot
    for name, setting, status in (("rita", "staff", 404), ("ada", "staff", 302), ("stan", "owner", 302)):
        before = Bot.objects.get(pk=bot.pk).entered_by
        client.force_login(people[name])
        assert client.post(f"/bots/{bot.slug}/settings/", {"entered_by": setting}).status_code == status
        bot.refresh_from_db()
        assert bot.entered_by == (before if status == 404 else setting)
    client.logout()
    page = client.get(bot.get_absolute_url()).content.decode()
    assert "In events it can be entered by only its owner." in page
    client.force_login(people["ada"])
    client.post(f"/bots/{bot.slug}/settings/", {"answers": "on"})
    bot.refresh_from_db()
    assert (bot.answers, bot.entered_by) == (True, "owner")
    page = client.post(f"/bots/{bot.slug}/settings/", {"entered_by": "friends"}, follow=True).content.decode()
    assert "nobody is called &#x27;friends&#x27;" in page
    bot.refresh_from_db()
    assert (bot.answers, bot.entered_by) == (True, "owner")
