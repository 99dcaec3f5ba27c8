"""The Atom feeds of bots, ladders, tournaments and people, from the entries that services publish.

A feed is the same for all visitors, and costs two queries. Readers that have the latest version get 304.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.syndication.views import Feed
from django.db import models
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import linebreaks
from django.views.decorators.http import conditional_page, require_safe

from engines.rules.registry import GAMES
from tournament import access
from tournament.models import Bot, FeedEntry, Ladder, Tournament, User
from tournament.models.feeds import feed_of
from tournament.sentences import isolate

MAX_ENTRIES = 50
FOUNDED = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
"""The date of the tag: URIs (RFC 4151), and of a feed without entries."""


@dataclass(frozen=True, slots=True)
class FeedLink:
    """A feed as pages link to it."""

    title: str
    page: str
    """The path of its subject's page."""
    follows: bool | None = None
    """Whether the visitor follows its subject; None for guests, and for what is the visitor's own."""

    @property
    def address(self) -> str:
        return f"{self.page}feed.atom"


class _AtomFeed(Atom1Feed):
    """Its date does not change while it has no entries."""

    def latest_post_date(self) -> datetime.datetime:
        return super().latest_post_date() if self.items else FOUNDED


class _SubjectFeed(Feed):  # type: ignore[type-arg]
    """The feed of one subject, which ``find`` returns for the word in the address or raises ``Http404``."""

    feed_type = _AtomFeed
    language = "en"
    author_name = "Duarena"

    def __init__(self, find: Callable[[str], models.Model]) -> None:
        self._find = find

    def get_object(self, request: HttpRequest, *args: str, **words: str) -> models.Model:
        (word,) = words.values()
        return self._find(word)

    def title(self, subject: models.Model) -> str:
        return f"{feed_link(subject).title} · Duarena"

    def link(self, subject: models.Model) -> str:
        return feed_link(subject).page

    def feed_guid(self, subject: models.Model) -> str:
        return _tag(f"feeds/{feed_of(subject)}")

    def items(self, subject: models.Model) -> list[FeedEntry]:
        return list(access.public_entries(FeedEntry.objects.of(subject))[:MAX_ENTRIES])

    def item_title(self, entry: models.Model) -> str:
        return str(entry)

    def item_description(self, entry: FeedEntry) -> str:
        return linebreaks(entry.text, autoescape=True)

    def item_guid(self, entry: FeedEntry) -> str:
        return _tag(entry.key)

    def item_pubdate(self, entry: FeedEntry) -> datetime.datetime:
        return entry.published_at

    def item_updateddate(self, entry: FeedEntry) -> datetime.datetime:
        return entry.updated_at


def find_public_bot(slug: str) -> Bot:
    return get_object_or_404(access.visible_bots(access.PUBLIC), slug=slug)


def find_public_ladder(code: str) -> Ladder:
    if code not in GAMES:
        raise Http404(f"no ladder {code!r}")
    return Ladder(code=code)


def find_public_tournament(slug: str) -> Tournament:
    return get_object_or_404(access.visible_tournaments(access.PUBLIC), slug=slug)


def find_public_person(name: str) -> User:
    person = get_object_or_404(User, username=name) if name.isprintable() else None
    if person is None or not access.may_see_profile(access.PUBLIC, person):
        raise Http404("no such person")
    return person


def _served(find: Callable[[str], models.Model]) -> Any:
    return require_safe(conditional_page(_SubjectFeed(find)))


bot_feed = _served(find_public_bot)
ladder_feed = _served(find_public_ladder)
tournament_feed = _served(find_public_tournament)
person_feed = _served(find_public_person)


def feed_link(subject: Any, visitor: access.Visitor = access.PUBLIC) -> FeedLink:
    """The feed of a bot, a ladder, a tournament or a user, for its page; one query for a logged-in user."""
    title = f"{subject.name} ladder" if isinstance(subject, Ladder) else isolate(str(subject))
    follows = None
    owner = subject.pk if isinstance(subject, User) else getattr(subject, "owner_id", None)
    if isinstance(visitor, User) and owner != visitor.pk:
        follows = visitor.follows.filter(feed=feed_of(subject)).exists()
    return FeedLink(title, subject.get_absolute_url(), follows)


def _tag(path: str) -> str:
    """A name for good (RFC 4151), which does not depend on the address that a reader used."""
    host = urlsplit(settings.SITE).hostname or ""
    authority = "localhost" if ":" in host else host
    return f"tag:{authority},{FOUNDED.year}:{path}"
