"""Nothing about a draft, or about a draft that was cancelled, reaches other users, on any page or feed."""

from __future__ import annotations

import re

import pytest
from django.utils import timezone

from tests.support.addresses import EXPECTED, address_of
from tests.support.filled_site import LADDER, LogIn, Site, go_live, round_robin
from tournament.models import FeedEntry, Notice, Tournament, User
from tournament.services.calendar import tend
from tournament.services.results.withdrawal import withdraw
from tournament.services.schedule.tournaments import cancel

pytestmark = pytest.mark.slow

NAMES = ("Hidden Cup", "Buried Cup")
SLUGS = ("hidden-cup", "buried-cup")
MORE = [
    f"/ladders/{LADDER}/ratings.json",
    "/bots/brivalb/",
    "/bots/brivalb/1/",
    "/bots/stone-age/against/brivalb/",
    "/bots/brivalb/feed.atom",
    "/games/?tournament=hidden-cup",
    "/games/games.csv?tournament=hidden-cup",
    "/games/games.jsonl?bot=brivalb",
    "/games/games.pgn?tournament=hidden-cup",
    "/tournaments/?before=1000000",
    "/people/rita/",
    "/people/rita/feed.atom",
    "/version-tests/?owner=olga",
]


@pytest.fixture
def drafts(site: Site) -> list[Tournament]:
    """Two drafts of the owner with the rival's bot: one is open and has its games, one is cancelled."""
    made = [round_robin(site.owner, name, [site.white, site.black]) for name in NAMES]
    game = made[0].games.earliest("id")
    go_live(game)  # an old draft may have such games
    cancel(made[1], "the site cancelled it")
    return made


@pytest.mark.parametrize("visitor", ["anonymous", "another"])
def test_no_page_and_no_feed_names_a_draft_of_another_user(
    site: Site, drafts: list[Tournament], as_user: LogIn, visitor: str
) -> None:
    client = as_user(site.rival if visitor == "another" else None)
    public = [address for address, _ in EXPECTED.values() if not address.startswith("POST ")]
    seen = 0
    for address in [address_of(site, public_address) for public_address in public] + MORE:
        response = client.get(address)
        if response.status_code == 200:
            seen += 1
            content = response.getvalue().decode(errors="replace").replace(f"={SLUGS[0]}", "")
            content = content.replace(f'value="{SLUGS[0]}"', "")  # what the visitor entered in a filter
            assert not [word for word in (*NAMES, *SLUGS) if word in content], address
    assert seen > 50


def test_the_owner_sees_both(site: Site, drafts: list[Tournament], as_user: LogIn) -> None:
    page = as_user(site.owner).get("/tournaments/").content.decode()
    assert [name in page for name in NAMES] == [True, True]


def test_owners_of_bots_hear_nothing_of_drafts_that_others_enter_them_in(
    site: Site, drafts: list[Tournament]
) -> None:
    withdraw(site.black, "it lost 5 games in a row")
    tend(timezone.now())
    about = Notice.objects.exclude(user=site.owner)
    assert not about.filter(tournament__in=drafts).exists()
    assert not [text for text in about.values_list("text", flat=True) if "Cup" in text]
    assert not FeedEntry.objects.filter(tournament__in=drafts).exists()
    assert {notice.user for notice in Notice.objects.filter(tournament__in=drafts)} <= {site.owner}


def test_a_draft_of_another_is_as_unknown_as_one_that_does_not_exist(
    site: Site, drafts: list[Tournament], as_user: LogIn
) -> None:
    actions = ("start", "announce", "pause", "resume", "cancel", "extend", "enter", "priority")
    client = as_user(site.rival)
    for page in ("", "feed.atom", "records.pgn", "standings.csv", "crosstable.json"):
        for slug in (*SLUGS, "no-such-cup"):
            response = client.get(f"/tournaments/{slug}/{page}")
            assert response.status_code == 404, (slug, page)
            assert not re.search(r"\bCup\b", response.content.decode()), (slug, page)
    for action in actions:
        for slug in (*SLUGS, "no-such-cup"):
            assert client.post(f"/tournaments/{slug}/{action}/").status_code == 404, (slug, action)
    assert User.objects.get(pk=site.rival.pk).notices.count() == 0
