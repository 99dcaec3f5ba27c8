"""Announced tournaments: entries until a deadline, frozen versions, a start by the clock; a health check."""

from __future__ import annotations

import datetime
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.support.schedule import make_event, make_user, make_version
from tournament.models import BotVersion, Keeper, Tournament
from tournament.monitoring.conditions import keeper_silence
from tournament.services import calendar
from tournament.services.bots.activity import activate, switch
from tournament.services.calendar import tend
from tournament.services.results.withdrawal import withdraw
from tournament.services.schedule.entries import enter, leave
from tournament.services.schedule.pairings import entered_versions
from tournament.services.schedule.tournaments import TournamentError, announce, cancel, start

pytestmark = pytest.mark.django_db

State = Tournament.State
NOW = timezone.now()
DAY = datetime.timedelta(days=1)
"""More than any run of the tests takes, which begin when this module is imported."""


def open_event(kind: str = "round-robin", **terms: object) -> Tournament:
    """Announced; bots are entered for a day, and it starts a day later."""
    times = {"entry_until": NOW + DAY, "starts_at": NOW + 2 * DAY}
    event = make_event(kind, running=False, **{"versions": [make_version("Ada")], **times, **terms})  # type: ignore[arg-type]
    announce(event)
    return event


def entered(event: Tournament) -> list[str]:
    return [str(version) for version in entered_versions(event)]


def test_owners_enter_and_leave_until_the_deadline() -> None:
    event = open_event()
    bob, cy = make_version("Bob", owner=make_user("bo")), make_version("Cy")
    enter(event, bob.bot)
    enter(event, cy.bot)
    leave(event, bob.bot)
    leave(event, bob.bot)
    assert entered(event) == ["Ada v1", "Cy v1"]
    tend(NOW + DAY)
    for late in (enter, leave):
        with pytest.raises(TournamentError, match="'Test event' takes no entries now"):
            late(event, cy.bot)
    assert entered(event) == ["Ada v1", "Cy v1"]


def test_what_cannot_play_is_not_entered() -> None:
    event = open_event()
    refused = make_version("Bob", state=BotVersion.State.REFUSED)
    other = make_version("Cy", games=["dualma"])
    off = make_version("Di")
    switch(off.bot, "duploline", on=False)
    for bot, why in [
        (refused.bot, "bot: 'Bob' has no version that plays on duploline"),
        (other.bot, "bot: 'Cy' has no version that plays on duploline"),
        (off.bot, "bot: 'Di' has no version that plays on duploline"),
        (make_version("Ada").bot, "bot: 'Ada' is entered already"),
    ]:
        with pytest.raises(TournamentError) as caught:
            enter(event, bot)
        assert str(caught.value) == why


def test_the_versions_of_the_deadline_are_frozen() -> None:
    event = open_event()
    enter(event, make_version("Bob").bot)
    make_version("Ada")
    gone = make_version("Cy")
    enter(event, gone.bot)
    BotVersion.objects.filter(pk=gone.pk).update(state=BotVersion.State.WITHDRAWN)
    late = make_version("Bob")
    BotVersion.objects.filter(pk=late.pk).update(created_at=NOW + DAY * 1.5)
    assert tend(NOW + DAY * 1.6) == 1
    assert entered(event) == ["Ada v2", "Bob v1"]
    make_version("Ada")
    tend(NOW + DAY * 1.7)
    assert entered(event) == ["Ada v2", "Bob v1"]


def test_a_bot_enters_with_the_version_that_its_owner_has_active() -> None:
    event = open_event(ladders=["duploline", "dualma"])
    both = make_version("Bob", games=["duploline", "dualma"])
    make_version("Bob", games=["duploline", "dualma"])
    enter(event, both.bot)
    activate(both)
    tried, elsewhere = make_version("Cy"), make_version("Cy", games=["dogon-kulei"])
    enter(event, tried.bot)
    assert elsewhere.number > tried.number
    tend(NOW + DAY)
    assert entered(event) == ["Ada v1", "Bob v1", "Cy v1"]


def test_the_newest_plays_where_an_owner_has_different_versions_on_the_ladders() -> None:
    event = open_event(ladders=["duploline", "dualma"])
    old = make_version("Bob", games=["duploline", "dualma"])
    new = make_version("Bob", games=["duploline", "dualma"])
    activate(old, "duploline")
    enter(event, old.bot)
    switch(old.bot, "dualma", on=False)
    tend(NOW + DAY)
    assert entered(event) == ["Ada v1", "Bob v1"]
    later = open_event(ladders=["duploline", "dualma"])
    switch(old.bot, "dualma", on=True)
    enter(later, old.bot)
    assert entered(later)[1:] == [str(new)]


def test_a_bot_that_its_owner_took_off_the_ladder_is_not_frozen() -> None:
    event = open_event()
    bob = make_version("Bob")
    enter(event, bob.bot)
    switch(bob.bot, "duploline", on=False)
    tend(NOW + DAY)
    assert entered(event) == ["Ada v1"]


@pytest.mark.parametrize("kind", ["round-robin", "swiss", "knock-out"])
@pytest.mark.parametrize("by_the_clock", [True, False])
def test_a_version_withdrawn_before_the_start_is_left_out_and_the_page_says_so(
    kind: str, by_the_clock: bool
) -> None:
    versions = [make_version(name) for name in ("Ada", "Bob", "Cy")]
    event = make_event(kind, running=False, versions=versions, starts_at=NOW + DAY)
    withdraw(versions[0], "it lost 5 games in a row")
    if by_the_clock:
        announce(event)
        tend(NOW + DAY)
        event.refresh_from_db()
    else:
        start(event)
    assert (event.state, entered(event)) == (State.RUNNING, ["Bob v1", "Cy v1"])
    assert event.state_reason == "it began without Ada v1, which had become invalid"
    assert event.games_total == event.games.count() == 2
    assert not event.games.filter(white=versions[0]).exists()


def test_a_withdrawn_challenger_or_too_few_left_keep_a_tournament_from_starting() -> None:
    versions = [make_version(name) for name in ("Ada", "Bob", "Cy")]
    gauntlet = make_event("gauntlet", running=False, versions=versions)
    two = make_event("round-robin", running=False, versions=versions[:2])
    withdraw(versions[0], "it lost 5 games in a row")
    with pytest.raises(TournamentError, match="the challenger 'Ada v1' is withdrawn"):
        start(gauntlet)
    with pytest.raises(TournamentError, match="only 'Bob v1' plays 'duploline', it needs two"):
        start(two)
    two.refresh_from_db()
    assert (two.state, two.games_total, entered(two)) == (State.DRAFT, 2, ["Ada v1", "Bob v1"])


def test_a_version_withdrawn_after_the_start_stays_entered_and_loses_its_games() -> None:
    versions = [make_version(name) for name in ("Ada", "Bob")]
    event = make_event("round-robin", versions=versions)
    withdraw(versions[0], "it lost 5 games in a row")
    tend(NOW)
    event.refresh_from_db()
    assert (event.state, entered(event)) == (State.FINISHED, ["Ada v1", "Bob v1"])


@pytest.mark.parametrize("kind", ["round-robin", "gauntlet", "swiss", "knock-out"])
def test_a_tournament_starts_by_itself_with_whoever_is_entered(kind: str) -> None:
    event = open_event(kind)
    assert event.games_total == 0
    for name in ("Bob", "Cy"):
        enter(event, make_version(name).bot)
    assert tend(NOW + DAY) == 1
    assert tend(NOW + DAY) == 0
    event.refresh_from_db()
    assert event.state == State.ANNOUNCED
    tend(NOW + 2 * DAY)
    event.refresh_from_db()
    assert event.state == State.RUNNING
    games = {"round-robin": 6, "gauntlet": 4, "swiss": 2, "knock-out": 2}
    assert event.games_total == event.games.count() == games[kind]


def test_a_tournament_that_nobody_entered_is_cancelled_at_its_start_and_says_why() -> None:
    event = open_event()
    tend(NOW + 2 * DAY)
    event.refresh_from_db()
    assert event.state == State.CANCELLED
    assert event.state_reason == "it could not start: only 'Ada v1' plays 'duploline', it needs two"


def test_a_full_tournament_takes_no_more_bots() -> None:
    event = open_event(pairs=1000, versions=[make_version(f"Bot {n}") for n in range(10)])
    with pytest.raises(TournamentError, match="110000 games are too many"):
        enter(event, make_version("Bob").bot)


def test_a_deadline_alone_is_also_the_start() -> None:
    event = open_event(starts_at=None, versions=[make_version("Ada"), make_version("Bob")])
    tend(NOW + DAY)
    event.refresh_from_db()
    assert event.state == State.RUNNING


def test_without_entries_a_start_by_the_clock_keeps_the_versions_chosen() -> None:
    event = open_event(entry_until=None, versions=[make_version("Ada"), make_version("Bob")])
    make_version("Ada")
    with pytest.raises(TournamentError, match="takes no entries"):
        enter(event, make_version("Cy").bot)
    tend(NOW + 2 * DAY)
    assert entered(event) == ["Ada v1", "Bob v1"]
    event.refresh_from_db()
    assert event.state == State.RUNNING


def test_an_announced_tournament_can_be_started_early_or_cancelled() -> None:
    early, cancelled = open_event(versions=[make_version("Ada"), make_version("Bob")]), open_event()
    start(early)
    assert (early.state, early.entry_closed, early.games_total) == (State.RUNNING, True, 2)
    cancel(cancelled)
    assert tend(NOW + 3 * DAY) == 0
    cancelled.refresh_from_db()
    assert (cancelled.state, cancelled.state_reason) == (State.CANCELLED, "")


@pytest.mark.parametrize(
    ("starts", "until", "why"),
    [
        (None, None, "starts at: enter a start time, or a deadline for entries"),
        (-1, None, "starts at: must be in the future"),
        (None, -1, "entry until: must be in the future"),
        (1, 2, "starts at: must not be before the end of entry"),
    ],
)
def test_times_that_cannot_be_are_refused(starts: int | None, until: int | None, why: str) -> None:
    with pytest.raises(TournamentError) as caught:
        open_event(
            versions=[make_version("Ada"), make_version("Bob")],
            starts_at=None if starts is None else NOW + starts * DAY,
            entry_until=None if until is None else NOW + until * DAY,
        )
    assert str(caught.value) == why


def test_a_gauntlet_for_all_comers_needs_its_challenger() -> None:
    with pytest.raises(TournamentError, match="a gauntlet needs its challenger"):
        make_event("gauntlet", versions=(), bots=0, entry_until=NOW + DAY)


def test_the_record_keeper_is_well_while_it_works() -> None:
    assert keeper_silence(NOW) == "it has not started yet"
    calendar.sweep()
    assert keeper_silence(timezone.now()) == ""
    Keeper.objects.update(seen_at=timezone.now() - timedelta(minutes=5))
    assert keeper_silence(timezone.now()) == "it has not worked for 300 s"
