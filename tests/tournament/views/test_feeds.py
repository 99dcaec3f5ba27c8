"""The Atom feeds: valid documents (RFC 4287), the right events, nothing private, cheap to ask again."""

from __future__ import annotations

import datetime
import xml.etree.ElementTree as ET
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from tests.support.filled_site import Site, add_version
from tests.support.schedule import LADDER, make_event, make_tournament, make_user, make_version
from tournament.models import BotVersion, FeedEntry
from tournament.services.bots.verdicts import accept, refuse
from tournament.services.feeds import PublishedEvent, publish
from tournament.services.results.withdrawal import reinstate, withdraw
from tournament.services.schedule.changing import set_times
from tournament.services.schedule.tournaments import announce, cancel, start
from tournament.services.uploads.validation import start_games
from tournament.views.feeds import MAX_ENTRIES

ATOM = "{http://www.w3.org/2005/Atom}"
pytestmark = pytest.mark.django_db


def read_feed(client: Client, address: str) -> ET.Element:
    response = client.get(address)
    assert response.status_code == 200
    assert response["Content-Type"] == "application/atom+xml; charset=utf-8"
    return ET.fromstring(response.content)


def titles(client: Client, address: str) -> list[str]:
    """The entries' titles without the marks that isolate names."""
    feed = read_feed(client, address)
    return [
        text_of(entry, "title").replace("\u2068", "").replace("\u2069", "")
        for entry in feed.iter(f"{ATOM}entry")
    ]


def text_of(element: ET.Element, name: str) -> str:
    (found,) = element.findall(f"{ATOM}{name}")
    return found.text or ""


def validated(name: str, owner: object = None, notes: str = "") -> BotVersion:
    """A version that passes its validation now."""
    version = make_version(name, owner=owner, state=BotVersion.State.VALIDATING)  # type: ignore[arg-type]
    version.notes = notes
    version.save()
    accept(version)
    version.refresh_from_db()
    return version


FEEDS = ["/bots/stone-age/feed.atom", f"/ladders/{LADDER}/feed.atom", "/people/ada/feed.atom"]


@pytest.mark.parametrize("address", [*FEEDS, "/tournaments/spring/feed.atom"])
def test_a_feed_has_the_elements_that_the_standard_demands(client: Client, address: str) -> None:
    ada = make_user()
    versions = [validated("Stone Age", ada, "a < b & c\n\nnew"), validated("Other")]
    make_tournament(versions=versions, owner=ada, name="Spring")
    feed = read_feed(client, address)
    assert feed.tag == f"{ATOM}feed"
    assert text_of(feed, "id").startswith("tag:127.0.0.1,2026:feeds/")
    assert text_of(feed, "title")
    assert text_of(feed.find(f"{ATOM}author") or feed, "name") == "Duarena"
    links = {link.get("rel"): urlsplit(link.get("href") or "") for link in feed.findall(f"{ATOM}link")}
    assert (links["self"].path, links["self"].scheme) == (address, "http")
    assert links["alternate"].path == address.removesuffix("feed.atom")
    entries = feed.findall(f"{ATOM}entry")
    assert entries
    for entry in entries:
        assert text_of(entry, "title")
        assert text_of(entry, "id").startswith("tag:127.0.0.1,2026:")
        assert datetime.datetime.fromisoformat(text_of(entry, "updated")).tzinfo is not None
        (link,) = entry.findall(f"{ATOM}link")
        assert client.get(link.get("href") or "").status_code == 200
    assert len({text_of(entry, "id") for entry in entries}) == len(entries)
    newest = max(text_of(entry, "updated") for entry in entries)
    assert text_of(feed, "updated") == newest


def test_the_texts_are_html_in_which_the_authors_words_are_escaped(client: Client) -> None:
    validated("Stone Age", make_user(), "a <b> & c")
    (entry,) = read_feed(client, "/bots/stone-age/feed.atom").iter(f"{ATOM}entry")
    (summary,) = entry.findall(f"{ATOM}summary")
    assert summary.get("type") == "html"
    assert "<p>a &lt;b&gt; &amp; c</p>" in (summary.text or "")


def test_the_feed_of_a_bot_has_its_versions_and_what_became_of_them(client: Client) -> None:
    ada = make_user()
    first = validated("Stone Age", ada)
    validated("Stone Age", ada)
    refuse(make_version("Stone Age", owner=ada, state=BotVersion.State.VALIDATING), "it never answered")
    withdraw(first, "a secret reason")
    reinstate(first)
    expected = [
        "Plays again: Stone Age v1",
        "Withdrawn: Stone Age v1",
        "New version: Stone Age v2",
        "New bot: Stone Age v1",
    ]
    assert titles(client, "/bots/stone-age/feed.atom") == expected
    assert b"secret" not in client.get("/bots/stone-age/feed.atom").content
    assert titles(client, f"/ladders/{LADDER}/feed.atom") == expected
    assert titles(client, "/people/ada/feed.atom") == expected[2:]


def test_an_announced_tournament_is_followed_to_its_end(client: Client) -> None:
    ada = make_user()
    versions = [make_version(f"Bot {number}", owner=ada) for number in (1, 2)]
    spring = make_tournament(versions=versions, owner=ada, name="Spring", running=False)
    set_times(spring, timezone.now() + datetime.timedelta(hours=1), None)
    assert titles(client, "/people/ada/feed.atom") == []
    announce(spring)
    start(spring)
    cancel(spring, "no worker is left")
    expected = ["Cancelled: Spring", "Begun: Spring", "Announced: Spring"]
    assert titles(client, "/tournaments/spring/feed.atom") == expected
    assert titles(client, "/people/ada/feed.atom") == expected


def test_a_validation_is_in_no_feed(site: Site, client: Client) -> None:
    validation = start_games(site.black, timezone.now())
    assert not FeedEntry.objects.filter(tournament=validation).exists()


def test_an_entry_whose_subject_becomes_private_is_hidden(client: Client) -> None:
    version = validated("Stone Age", make_user())
    validated("Stone Age", version.bot.owner)
    BotVersion.objects.filter(pk=version.pk).update(state=BotVersion.State.REFUSED)
    assert titles(client, "/people/ada/feed.atom") == ["New version: Stone Age v2"]


def test_a_feed_without_entries_has_a_date_that_stays(client: Client) -> None:
    feed = read_feed(client, f"/ladders/{LADDER}/feed.atom")
    assert text_of(feed, "updated") == "2026-01-01T00:00:00+00:00"
    assert not list(feed.iter(f"{ATOM}entry"))


@pytest.mark.parametrize("name", ["a.b+c@d_e-f", "Ünï", "x@y"])
def test_a_person_s_feed_has_an_address_for_every_username(client: Client, name: str) -> None:
    validated("Stone Age", make_user(name))
    feed = read_feed(client, reverse("person-feed", args=[name]))
    assert len(list(feed.iter(f"{ATOM}entry"))) == 1
    (link,) = (one.get("href") for one in feed.findall(f"{ATOM}link") if one.get("rel") == "alternate")
    assert (link or "").endswith(reverse("person-feed", args=[name]).removesuffix("feed.atom"))


@pytest.mark.parametrize("address", ["/people/nobody/feed.atom", "/ladders/chess/feed.atom"])
def test_what_does_not_exist_has_no_feed(client: Client, address: str) -> None:
    assert client.get(address).status_code == 404


def test_a_repeated_event_keeps_its_id_and_its_first_date(client: Client) -> None:
    version = validated("Stone Age")
    begin = timezone.now()
    for minutes in (0, 5):
        event = PublishedEvent("bots/stone-age/x", f"After {minutes}", "", (version.bot,), version=version)
        publish([event], begin + datetime.timedelta(minutes=minutes))
    entry = next(iter(read_feed(client, "/bots/stone-age/feed.atom").iter(f"{ATOM}entry")))
    assert text_of(entry, "title") == "After 5"
    published, updated = (
        datetime.datetime.fromisoformat(text_of(entry, name)) for name in ("published", "updated")
    )
    assert updated - published == datetime.timedelta(minutes=5)


def test_a_feed_has_the_latest_entries_and_costs_two_queries(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    version = validated("Stone Age")
    now = timezone.now()
    for number in range(MAX_ENTRIES + 5):
        event = PublishedEvent(f"bots/stone-age/{number}", f"Event {number}", "", (version.bot,))
        publish([event], now + datetime.timedelta(minutes=number))
    with django_assert_num_queries(2):
        found = titles(client, "/bots/stone-age/feed.atom")
    assert found == [f"Event {number}" for number in reversed(range(5, MAX_ENTRIES + 5))]


def test_a_reader_that_has_the_feed_gets_it_only_once_more_after_an_event(client: Client) -> None:
    version = validated("Stone Age")
    address = "/bots/stone-age/feed.atom"
    first = client.get(address)
    known = {"If-None-Match": first["ETag"]}
    assert client.get(address, headers=known).status_code == 304
    assert client.get(address, headers={"If-Modified-Since": first["Last-Modified"]}).status_code == 304
    publish(
        [PublishedEvent("bots/stone-age/x", "News", "", (version.bot,))],
        timezone.now() + datetime.timedelta(minutes=1),
    )
    assert client.get(address, headers=known).status_code == 200
    assert client.get(address, headers={"If-Modified-Since": first["Last-Modified"]}).status_code == 200


@pytest.mark.parametrize("address", ["/bots/stone-age/", "/ladders/dogon-kulei/", "/tournaments/spring/"])
def test_a_page_names_its_feed_in_the_head_and_in_a_link(site: Site, client: Client, address: str) -> None:
    page = client.get(address).content.decode()
    assert '<link rel="alternate" type="application/atom+xml" title="' in page
    assert page.count(f'href="{address}feed.atom"') == 2
    assert client.get(f"{address}feed.atom").status_code == 200


def test_a_page_without_a_feed_names_none(site: Site, client: Client) -> None:
    add_version(site.owner, "Hopeless", state="refused")
    client.force_login(site.owner)
    for address in ("/bots/hopeless/", f"/tournaments/{site.draft.slug}/", "/bots/"):
        assert "atom+xml" not in client.get(address).content.decode()


def test_the_site_s_address_is_the_authority_of_the_ids(client: Client, settings: Settings) -> None:
    settings.SITE = "https://duarena.example:8443"
    feed = read_feed(client, f"/ladders/{LADDER}/feed.atom")
    assert text_of(feed, "id") == f"tag:duarena.example,2026:feeds/ladder/{LADDER}"


def test_the_rounds_of_a_swiss_are_published_one_by_one(client: Client) -> None:
    event = make_event("swiss", bots=4)
    assert titles(client, f"/tournaments/{event.slug}/feed.atom") == ["Begun: Test event"]
