"""The leader of a ladder, as feeds tell of it."""

from __future__ import annotations

import datetime

import pytest
from django.utils import timezone

from engines.rules.base import Result
from tests.support.schedule import LADDER, Deal, make_tournament, make_version, record_short
from tournament.models import BotVersion, FeedEntry, Ladder, LadderRating, ladders
from tournament.models.feeds import feed_of
from tournament.services.results.leaders import follow_leader

pytestmark = pytest.mark.django_db
NOW = timezone.now()


def lead(version: BotVersion, rating: float, now: datetime.datetime = NOW) -> None:
    values = {"mu": rating, "sigma": 1, "conservative": rating, "games": 3}
    LadderRating.objects.update_or_create(ladder_id=LADDER, version=version, defaults=values)
    follow_leader(Ladder.objects.get(pk=LADDER), now)


def published() -> list[str]:
    rows = FeedEntry.objects.filter(feed=feed_of(Ladder(code=LADDER)), key__contains="/leaders/")
    return [row.title.replace("\u2068", "").replace("\u2069", "") for row in rows.order_by("id")]


def test_a_new_leader_is_published_on_the_ladder_and_for_its_bot() -> None:
    ada, bob = make_version("Ada"), make_version("Bob")
    lead(ada, 10)
    lead(ada, 11)
    lead(bob, 5)
    lead(bob, 12)
    assert published() == ["Ada v1 leads the DuploLine ladder", "Bob v1 leads the DuploLine ladder"]
    entry = FeedEntry.objects.get(feed=feed_of(bob.bot))
    assert (entry.text, entry.get_absolute_url()) == (
        "Its rating is 12.00, after 3 games.",
        f"/ladders/{LADDER}/",
    )
    assert Ladder.objects.get(pk=LADDER).leader == bob


def test_a_version_that_no_longer_plays_does_not_lead() -> None:
    ada, bob = make_version("Ada"), make_version("Bob")
    lead(ada, 10)
    lead(bob, 12)
    BotVersion.objects.filter(pk=bob.pk).update(state=BotVersion.State.WITHDRAWN)
    lead(ada, 10)
    assert Ladder.objects.get(pk=LADDER).leader == ada


def test_a_provisional_rating_does_not_lead() -> None:
    ada, bob = make_version("Ada"), make_version("Bob")
    lead(ada, 10)
    LadderRating.objects.create(ladder_id=LADDER, version=bob, mu=40, sigma=3, conservative=31, games=3)
    follow_leader(Ladder.objects.get(pk=LADDER), NOW)
    assert Ladder.objects.get(pk=LADDER).leader == ada


def test_two_that_lead_in_turn_are_each_published_once_a_day() -> None:
    ada, bob = make_version("Ada"), make_version("Bob")
    for rating in range(6):
        lead([ada, bob][rating % 2], rating)
    assert len(published()) == 2
    lead(ada, 7, NOW + datetime.timedelta(days=1))
    assert len(published()) == 3


def test_the_leader_after_recorded_games_is_published_with_them(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ladders, "SETTLED_GAMES", 1)
    make_tournament()
    record_short(deal(), lambda job, game: Result.WHITE_WINS)
    leader = LadderRating.objects.settled().leaderboard(LADDER)[0].version
    assert Ladder.objects.get(pk=LADDER).leader == leader
    assert f"{leader} leads the DuploLine ladder" in published()


def test_unrated_games_make_no_leader(deal: Deal) -> None:
    make_tournament(rated=False)
    record_short(deal())
    assert published() == []
