"""Changes of drafts and of announced tournaments, and entries that are removed."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from tests.support.schedule import make_event, make_user, make_version
from tournament.models import FeedEntry, Notice, Tournament
from tournament.services.calendar import tend
from tournament.services.results.withdrawal import withdraw
from tournament.services.schedule.changing import change, remove
from tournament.services.schedule.entries import enter
from tournament.services.schedule.tournaments import TournamentError, announce, start

pytestmark = pytest.mark.django_db
State = Tournament.State
DAY = datetime.timedelta(days=1)


def edit(tournament: Tournament, **terms: Any) -> None:
    change(tournament, lambda stored: replace(stored, **terms))


def announced(kind: str = "round-robin", *, is_open: bool = False, **terms: Any) -> Tournament:
    now = timezone.now()
    times: dict[str, Any] = {"entry_until": now + DAY} if is_open else {"starts_at": now + DAY}
    event = make_event(kind, running=False, owner=make_user("olga"), **times, **terms)
    announce(event)
    return event


def entered(tournament: Tournament) -> list[str]:
    return [str(entry.version.bot) for entry in tournament.entries.order_by("number")]


@pytest.mark.parametrize("is_announced", [False, True])
def test_the_games_of_a_changed_tournament_are_made_anew(is_announced: bool) -> None:
    event = announced(bots=3) if is_announced else make_event("round-robin", bots=3, running=False)
    assert event.games_total == event.games.count() == 6
    edit(event, name="Another cup", time_control="2+0", pairs=2, opening_plies=2)
    assert (event.name, event.time_control, event.pairs) == ("Another cup", "2+0", 2)
    assert event.games_total == event.games.count() == 12
    assert set(event.games.values_list("key", flat=True)) == {
        f"{event.slug}/{cycle}/1/{game}" for cycle in range(1, 7) for game in (1, 2)
    }
    start(event)
    assert (event.state, event.games_to_make) == (State.RUNNING, 0)


def test_another_format_has_its_own_parameters_alone() -> None:
    event = announced("swiss", rounds=4)
    edit(event, kind="knock-out", extra_pairs=2)
    assert (event.kind, event.rounds, event.extra_pairs, event.games.count()) == ("knock-out", 0, 2, 0)
    edit(event, kind="round-robin")
    assert (event.extra_pairs, event.games.count()) == (0, 12)


@pytest.mark.parametrize(
    ("terms", "sentence"),
    [
        ({"time_control": "soon"}, "time control: "),
        ({"name": ""}, "name: "),
        ({"starts_at": None}, "starts at: enter a start time"),
        (
            {"starts_at": datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)},
            "starts at: must be in the future",
        ),
        ({"versions": []}, "bots: a round robin needs at least two"),
    ],
)
def test_a_change_that_is_refused_changes_nothing(terms: dict[str, Any], sentence: str) -> None:
    event = announced()
    before = Tournament.objects.filter(pk=event.pk).values().get()
    with pytest.raises(TournamentError, match=f"^{sentence}"):
        edit(event, **terms)
    assert Tournament.objects.filter(pk=event.pk).values().get() == before
    assert (event.games.count(), event.entries.count(), Notice.objects.count()) == (12, 4, 0)


def test_nothing_is_changed_once_it_has_begun() -> None:
    event, refusal = make_event("swiss"), "is running, only before its start can it be changed"
    with pytest.raises(TournamentError, match=refusal):
        edit(event, name="Late")
    with pytest.raises(TournamentError, match=refusal):
        remove(event, event.entries.all()[0].version.bot)


def test_the_deadline_stays_once_it_has_passed_and_is_never_removed() -> None:
    event = announced(is_open=True)
    with pytest.raises(TournamentError, match="the deadline can be moved, but not removed"):
        edit(event, entry_until=None, starts_at=timezone.now() + DAY)
    event.refresh_from_db()
    Tournament.objects.filter(pk=event.pk).update(starts_at=timezone.now() + 2 * DAY)
    tend(timezone.now() + DAY * 1.5)
    event.refresh_from_db()
    assert (event.entry_closed, event.state) == (True, State.ANNOUNCED)
    with pytest.raises(TournamentError, match="the entries are closed"):
        edit(event, entry_until=timezone.now() + DAY * 1.7)
    edit(event, time_control="3+0", starts_at=timezone.now() + 3 * DAY)
    assert event.time_control == "3+0"


def test_bots_that_are_entered_meanwhile_stay_and_those_with_a_withdrawn_version_too() -> None:
    event = announced(bots=2, is_open=True)
    ada = make_version("Ada", owner=make_user("ada"))
    enter(event, ada.bot)
    withdraw(ada, "it is replaced")
    enter(event, make_version("Cy").bot)
    edit(event, time_control="2+0")
    assert entered(event) == ["Bot 1", "Bot 2", "Ada", "Cy"]
    make_version("Ada", owner=ada.bot.owner)
    remove(event, event.entries.all()[0].version.bot)
    assert sorted(entered(event)) == ["Ada", "Bot 2", "Cy"]
    tend(timezone.now() + DAY)
    event.refresh_from_db()
    assert sorted(entered(event)) == ["Ada", "Bot 2", "Cy"], "Ada plays with the new version"
    assert event.state == State.RUNNING


def test_owners_of_entered_bots_are_told_what_has_changed_and_what_is_removed() -> None:
    event = announced(bots=2, is_open=True)
    ada, bea = (make_version(name, owner=make_user(name.lower())) for name in ("Ada", "Bea"))
    for version in (ada, bea):
        enter(event, version.bot)
    edit(event, time_control="2+0", kind="swiss", rounds=3)
    texts = dict(Notice.objects.values_list("user__username", "text"))
    words = "\u2068Test event\u2069, which your bot is entered in, has changed: "
    assert texts.keys() == {"ada", "bea"}
    assert texts["ada"].startswith(words)
    assert "time control" in texts["ada"]
    assert "format" in texts["ada"]
    remove(event, bea.bot)
    told = Notice.objects.get(user__username="bea").text
    assert told == "\u2068Bea\u2069 is no longer entered in \u2068Test event\u2069: its organizer removed it."
    assert Notice.objects.get(user__username="ada").text == texts["ada"]
    assert FeedEntry.objects.filter(key__endswith="/announced", text__startswith="Swiss of").exists()


def test_nobody_is_told_of_a_draft_and_the_organizer_not_of_the_own_changes() -> None:
    ada = make_version("Ada", owner=make_user("ada"))
    draft = make_event("round-robin", versions=[ada, make_version("Bob")], running=False, owner=ada.bot.owner)
    edit(draft, time_control="2+0")
    edit(draft, starts_at=timezone.now() + DAY)
    announce(draft)
    edit(draft, time_control="3+0")
    assert not Notice.objects.exists()


def test_what_an_event_needs_is_not_removed() -> None:
    two, gauntlet = announced(bots=2), make_event("gauntlet", bots=3, running=False)
    with pytest.raises(TournamentError, match="needs at least two, not 1"):
        remove(two, two.entries.all()[0].version.bot)
    with pytest.raises(TournamentError, match="is the challenger, without which nothing is played"):
        remove(gauntlet, gauntlet.entries.order_by("number")[0].version.bot)
    remove(gauntlet, gauntlet.entries.order_by("number")[1].version.bot)
    assert (gauntlet.entries.count(), gauntlet.games.count()) == (2, 2)


def test_a_bot_whose_version_is_withdrawn_is_removed_too_and_its_owner_told() -> None:
    event = announced(bots=2, is_open=True)
    ada = make_version("Ada", owner=make_user("ada"))
    enter(event, ada.bot)
    withdraw(ada, "it is replaced")
    make_version("Ada", owner=ada.bot.owner)
    remove(event, ada.bot)
    assert entered(event) == ["Bot 1", "Bot 2"]
    assert Notice.objects.filter(user__username="ada", text__contains="is no longer entered").exists()


def test_a_bot_has_one_entry_when_a_newer_version_is_chosen_and_its_owner_reads_of_no_removal() -> None:
    ada = make_version("Ada", owner=make_user("ada"))
    event = announced(bots=2, is_open=True)
    enter(event, ada.bot)
    withdraw(ada, "it is replaced")
    newer = make_version("Ada", owner=ada.bot.owner)
    others = [entry.version for entry in event.entries.order_by("number")[:2]]
    edit(event, versions=[*others, newer])
    assert entered(event) == ["Bot 1", "Bot 2", "Ada"]
    assert not Notice.objects.filter(text__contains="is no longer entered").exists()
    tend(timezone.now() + DAY)
    event.refresh_from_db()
    assert event.state == State.RUNNING


def test_a_removal_gives_a_gauntlet_no_other_challenger() -> None:
    gauntlet = make_event("gauntlet", bots=4, running=False)
    challenger, first, *_ = (entry.version for entry in gauntlet.entries.order_by("number"))
    withdraw(challenger, "it is replaced")
    with pytest.raises(TournamentError, match="is the challenger, without which nothing is played"):
        remove(gauntlet, challenger.bot)
    remove(gauntlet, first.bot)
    assert entered(gauntlet) == ["Bot 1", "Bot 3", "Bot 4"]


@pytest.mark.parametrize("is_newer", [False, True])
def test_a_challenger_that_is_not_valid_stays_the_challenger_of_other_opponents(is_newer: bool) -> None:
    gauntlet = make_event("gauntlet", bots=4, running=False)
    challenger, *opponents = (entry.version for entry in gauntlet.entries.order_by("number"))
    withdraw(challenger, "it is replaced")
    newer = [make_version(challenger.bot.name, owner=challenger.bot.owner)] if is_newer else []
    edit(gauntlet, versions=[*opponents[1:], *newer])
    assert entered(gauntlet) == ["Bot 1", "Bot 3", "Bot 4"]


def test_the_bot_that_is_chosen_as_challenger_comes_before_one_that_is_not_valid() -> None:
    event = make_event("round-robin", bots=3, running=False)
    first, *others = (entry.version for entry in event.entries.order_by("number"))
    withdraw(first, "it is replaced")
    edit(event, kind="gauntlet", versions=others)
    assert entered(event) == ["Bot 2", "Bot 3", "Bot 1"]
