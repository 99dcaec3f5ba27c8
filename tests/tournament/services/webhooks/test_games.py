"""Events of recorded games: each once, of public games alone, and none for those who do not want them."""

from __future__ import annotations

import pytest
from django.utils import timezone

from engines.records import Fault, RecordOutcome, Termination
from engines.rules.base import Result
from tests.support.filled_site import LADDER, Site, fill_site, set_done
from tests.support.receivers import check_example, make_webhook
from tests.support.remembered import remembered
from tournament.models import (
    Game,
    Ladder,
    LadderRating,
    RatingEvent,
    Tournament,
    Webhook,
    WebhookDelivery,
    WebhookProgress,
)
from tournament.services.webhooks import games as webhook_games
from tournament.services.webhooks.games import make_events

pytestmark = pytest.mark.django_db


@pytest.fixture
def site() -> Site:
    site = remembered(fill_site)
    make_events()
    return site


def record(game: Game, result: Result = Result.WHITE_WINS) -> None:
    ladder = Ladder.objects.get(pk=LADDER)
    ladder.sequence += 1
    ladder.save()
    ending = RecordOutcome(result, Termination.RULES, Fault.NONE)
    set_done(game, ending, 20, sequence=ladder.sequence, finished_at=timezone.now())


def types() -> list[str]:
    return list(WebhookDelivery.objects.order_by("pk").values_list("type", flat=True))


def test_the_owner_of_the_loser_is_told_once(site: Site) -> None:
    for user in (site.owner, site.rival):
        make_webhook(user)
    record(site.live)
    assert (make_events(), make_events()) == (1, 0)
    delivery = WebhookDelivery.objects.get()
    assert delivery.webhook.owner == site.live.black.bot.owner
    check_example(delivery)
    data = delivery.data
    assert (data["bot_slug"], data["opponent_slug"]) == (site.live.black.bot.slug, site.live.white.bot.slug)
    assert (data["game"], data["ladder"], data["result"]) == (site.live.pk, LADDER, "1-0")
    assert "\u2068" not in data["text"]


def test_draws_and_games_that_others_do_not_see_are_not_told(site: Site) -> None:
    for user in (site.owner, site.rival):
        make_webhook(user)
    record(site.live, Result.DRAW)
    assert make_events() == 0
    record(site.live)
    Tournament.objects.update(own_workers=True)
    assert make_events() == 0


def test_what_was_recorded_before_a_webhook_is_not_told(site: Site) -> None:
    record(site.live)
    make_webhook(site.owner)
    make_webhook(site.rival)
    assert make_events() == 0


def test_games_are_read_in_parts_and_not_at_all_without_a_webhook_for_them(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_games, "CHUNK", 2)
    monkeypatch.setattr(webhook_games, "UNNOTED", 2)
    monkeypatch.setattr(webhook_games, "UNREAD", 4)
    begin = WebhookProgress.objects.get(ladder=LADDER).sequence

    def read(more: int) -> int:
        Ladder.objects.filter(pk=LADDER).update(sequence=begin + more)
        make_events()
        return WebhookProgress.objects.get(ladder=LADDER).sequence - begin

    webhook = make_webhook(site.owner, events=["version.checked"])
    assert [read(3), read(5)] == [0, 5]
    Webhook.objects.filter(pk=webhook.pk).update(events=["game.lost"])
    assert [read(6), read(10), read(10)] == [5, 7, 9]


def test_a_best_rating_of_a_bot_is_told_if_it_is_settled(site: Site) -> None:
    make_webhook(site.owner, events=["rating.record"])
    LadderRating.objects.filter(ladder=LADDER).delete()
    rating = LadderRating.objects.create(
        ladder_id=LADDER, version=site.white, mu=28, sigma=1, conservative=25, games=5, best=25
    )

    def rated(after: float, games: int) -> int:
        record(site.live, Result.DRAW)
        sequence = Ladder.objects.get(pk=LADDER).sequence
        RatingEvent.objects.create(
            ladder_id=LADDER,
            sequence=sequence,
            game=site.live,
            version=site.white,
            mu_before=1,
            sigma_before=1,
            mu_after=after + 3,
            sigma_after=1,
        )
        LadderRating.objects.filter(pk=rating.pk).update(best=max(25, after), games=games)
        return make_events()

    assert rated(30, 5) == 0, "the rating is provisional"
    assert rated(31, 500) == 1
    check_example(WebhookDelivery.objects.get())
    assert WebhookDelivery.objects.get().data["rating"] == 31
    LadderRating.objects.filter(pk=rating.pk).update(best=31)
    record(site.live, Result.DRAW)
    assert make_events() == 0
