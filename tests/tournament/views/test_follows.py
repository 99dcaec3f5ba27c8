"""Following bots, ladders, tournaments and people: one button, only of what everybody sees."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.support.filled_site import LogIn, Site
from tests.support.schedule import LADDER, make_event
from tournament.models import Follow
from tournament.models.feeds import feed_of
from tournament.services.accounts import follows
from tournament.services.schedule.tournaments import start


def pages(site: Site) -> dict[str, str]:
    """The pages with the button, and the feed that it follows; all are of others than the rival."""
    return {
        "/bots/stone-age/": feed_of(site.white.bot),
        f"/ladders/{LADDER}/": f"ladder/{LADDER}",
        site.running.get_absolute_url(): feed_of(site.running),
        "/people/olga/": feed_of(site.owner),
    }


def test_one_press_follows_and_another_one_ends_it(site: Site, as_user: LogIn) -> None:
    client = as_user(site.rival)
    for page, feed in pages(site).items():
        for repeated in range(2):
            shown = client.post(f"{page}follow/", {"follow": "yes"}, follow=True)
            assert shown.redirect_chain == [(page, 302)], repeated
        assert Follow.objects.get().feed == feed
        text = shown.content.decode()
        assert "You follow " in text
        assert '<button name="follow" value="no">Unfollow</button>' in text
        text = client.post(f"{page}follow/", {"follow": "no"}, follow=True).content.decode()
        assert '<button name="follow" value="yes">Follow</button>' in text
        assert not Follow.objects.exists()


def test_a_guest_gets_a_link_to_log_in_that_leads_back(site: Site, client: Client) -> None:
    for page in pages(site):
        assert f'href="/log-in/?next={page}">Follow</a>' in client.get(page).content.decode()
        assert client.post(f"{page}follow/").headers["Location"] == f"/log-in/?next={page}"
    assert not Follow.objects.exists()


def test_nobody_is_asked_to_follow_what_is_his_own(site: Site, as_user: LogIn) -> None:
    client = as_user(site.owner)
    for page in pages(site):
        is_ladder = page.startswith("/ladders/")
        assert ('value="yes">Follow</button>' in client.get(page).content.decode()) == is_ladder


def test_the_button_is_not_kept_by_the_browser(site: Site, as_user: LogIn, client: Client) -> None:
    for page in pages(site):
        assert "no-store" in as_user(site.rival).get(page).headers["Cache-Control"]
        assert "no-store" not in client.get(page).headers.get("Cache-Control", "")


def test_a_draft_is_followed_by_nobody(site: Site, as_user: LogIn) -> None:
    draft = make_event("round-robin", owner=site.owner, running=False, name="Secret")
    page = draft.get_absolute_url()
    for user in (site.rival, site.owner, site.staff):
        assert as_user(user).post(f"{page}follow/").status_code == 404
    assert "Follow</button>" not in as_user(site.staff).get(page).content.decode()
    start(draft)
    draft.refresh_from_db()
    assert as_user(site.rival).post(f"{draft.get_absolute_url()}follow/").status_code == 302


def test_a_user_follows_a_limited_number(site: Site, as_user: LogIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follows, "MAX_FOLLOWED", 1)
    client = as_user(site.rival)
    client.post(f"/ladders/{LADDER}/follow/")
    text = client.post("/bots/stone-age/follow/", follow=True).content.decode()
    assert "You follow 1 already: unfollow something first." in text
    assert Follow.objects.get().feed == f"ladder/{LADDER}"
