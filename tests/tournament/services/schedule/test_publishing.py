"""What feeds and notices say about a tournament: its rounds, its winner, the places of each owner's bots."""

from __future__ import annotations

import datetime

import pytest
from django.utils import timezone

from engines.rules.registry import GAMES
from tests.support.schedule import (
    Deal,
    ResultOf,
    all_drawn,
    first_name_wins,
    make_event,
    make_tournament,
    make_user,
    make_version,
    play_short,
    record,
    record_short,
    start_validation,
    void,
)
from tournament.models import BotVersion, FeedEntry, Notice, User
from tournament.models.feeds import feed_of
from tournament.services.calendar import tend
from tournament.services.schedule.changing import set_times
from tournament.services.schedule.tournaments import announce, extend
from workers.failures import MAX_VOIDS

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
BOTH = ["dogon-kulei", "duploline"]


def play_out(deal: Deal, result_of: ResultOf = first_name_wins) -> None:
    """Play and tend until nothing is left to play."""
    while jobs := deal():
        for _ in range(2):  # messages may come twice
            record_short(jobs, result_of)
        tend()


def feed(subject: object) -> list[tuple[str, str]]:
    """Titles and texts, the oldest first, without the marks that isolate names."""
    rows = FeedEntry.objects.filter(feed=feed_of(subject)).order_by("id")  # type: ignore[arg-type]
    return [(plain(row.title), plain(row.text)) for row in rows]


def plain(text: str) -> str:
    return text.replace("\u2068", "").replace("\u2069", "")


def notices(user: User) -> list[str]:
    return [plain(notice.text) for notice in Notice.objects.filter(user=user).order_by("id")]


def test_the_champion_is_published_once_and_every_owner_is_told_his_best_place(deal: Deal) -> None:
    ada, bob, organizer = make_user("ada"), make_user("bob"), make_user("organizer")
    versions = [make_version(name, owner=owner) for name, owner in (("A", ada), ("B", bob), ("C", ada))]
    spring = make_tournament(versions=versions, owner=organizer, name="Spring")
    play_out(deal)
    assert feed(spring)[-1] == ("Finished: Spring", "A v1 wins.")
    assert ("Finished: Spring", "A v1 wins.") in feed(organizer)
    text = "Round robin of DuploLine. A v1 wins."
    assert ("B v1 takes place 2 of 3: Spring", text) in feed(versions[1].bot)
    assert ("A v1 wins: Spring", text) in feed(versions[0].bot)
    assert notices(organizer) == ["Spring has ended. A v1 wins."]
    assert notices(bob) == ["Spring has ended. B v1 takes place 2 of 3."]
    assert notices(ada) == ["Spring has ended. A v1 wins."]
    (notice,) = Notice.objects.filter(user=bob)
    assert (notice.tournament, notice.is_warning) == (spring, False)


def test_an_organizer_who_takes_part_is_told_both_in_one_notice(deal: Deal) -> None:
    ada = make_user()
    make_tournament(versions=[make_version("A", owner=ada), make_version("B")], owner=ada, name="Spring")
    play_out(deal)
    assert notices(ada) == ["Spring has ended. A v1 wins."]


def test_of_an_unrated_tournament_that_took_no_entries_only_the_organizer_is_told(deal: Deal) -> None:
    ada, bob = make_user("ada"), make_user("bob")
    match = make_tournament(
        versions=[make_version("A", owner=ada), make_version("B", owner=bob)],
        owner=ada,
        rated=False,
        name="A against B",
    )
    play_out(deal)
    assert (match.rated, notices(ada), notices(bob)) == (False, ["A against B has ended. A v1 wins."], [])


def test_every_ladder_has_a_winner(deal: Deal) -> None:
    ada = make_user()
    versions = [make_version("A", games=BOTH, owner=ada), make_version("B", games=BOTH)]
    spring = make_tournament(versions=versions, ladders=BOTH, name="Spring")
    play_out(deal)
    first, second = (GAMES[code].name for code in spring.ladders)
    assert feed(spring)[-1][1] == f"{first}: A v1 wins. {second}: A v1 wins."
    assert notices(ada) == ["Spring has ended. A v1 wins on 2 of 2 ladders."]


def test_equal_bots_share_the_first_place(deal: Deal) -> None:
    spring = make_tournament(name="Spring")
    play_out(deal, all_drawn)
    assert feed(spring)[-1][1] == "Bot 1 v1 and Bot 2 v1 share the first place."


def test_a_tournament_of_which_games_were_given_up_has_no_winner(deal: Deal) -> None:
    ada = make_user()
    spring = make_tournament(name="Spring", owner=ada)
    for _ in range(MAX_VOIDS):
        for job in deal():
            for report in play_short(job):
                record(void(report))
    assert feed(spring)[-1] == ("Ended: Spring", "Some games could not be played.")
    (notice,) = Notice.objects.filter(user=ada)
    assert notice.is_warning


def test_the_rounds_of_a_swiss_are_published_as_they_end(deal: Deal) -> None:
    event = make_event("swiss", bots=4, rounds=3)
    play_out(deal)
    assert [title for title, _ in feed(event)] == [
        "Begun: Test event",
        "Round 1 of 3 is finished: Test event",
        "Round 2 of 3 is finished: Test event",
        "Finished: Test event",
    ]
    assert feed(event)[2][1] == "Bot 1 v1 leads. The next round is drawn."


def test_extra_pairs_of_a_knock_out_belong_to_their_round(deal: Deal) -> None:
    event = make_event("knock-out", bots=4, extra_pairs=2)
    play_out(deal, all_drawn)
    assert [title for title, _ in feed(event)] == [
        "Begun: Test event",
        "Round 1 is finished: Test event",
        "Finished: Test event",
    ]


def test_an_extended_tournament_ends_again_under_the_same_id_and_notice(deal: Deal) -> None:
    ada = make_user()
    spring = make_tournament(name="Spring", owner=ada)
    play_out(deal)
    before = FeedEntry.objects.get(feed=feed_of(spring), key="tournaments/spring/ended")
    extend(spring, 1)
    play_out(deal, all_drawn)
    after = FeedEntry.objects.get(feed=feed_of(spring), key="tournaments/spring/ended")
    assert (after.pk, after.published_at) == (before.pk, before.published_at)
    assert after.updated_at > before.updated_at
    assert len(notices(ada)) == 1


def test_an_organizer_is_told_that_the_site_could_not_start_the_tournament() -> None:
    ada = make_user()
    autumn = make_event("round-robin", bots=2, running=False, owner=ada, name="Autumn")
    later = timezone.now() + datetime.timedelta(hours=1)
    set_times(autumn, later, None)
    announce(autumn)
    for version in (entry.version for entry in autumn.entries.all()):
        type(version).objects.filter(pk=version.pk).update(state="withdrawn")
    tend(later)
    (text,) = notices(ada)
    assert text.startswith("Your tournament Autumn is cancelled. It could not start: ")
    assert Notice.objects.get(user=ada).is_warning


def test_a_validation_is_told_by_its_verdict_alone(deal: Deal) -> None:
    ada = make_user()
    version = make_version("A", owner=ada, state=BotVersion.State.VALIDATING)
    start_validation(version)
    play_out(deal)
    assert notices(ada) == ["A v1 has passed its validation. It is active on DuploLine."]
    assert [title for title, _ in feed(version.bot)] == ["New bot: A v1"]
