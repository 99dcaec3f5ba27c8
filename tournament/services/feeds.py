"""Writes entries of the Atom feeds: in the transaction of an event, the same entry into each feed.

Which events are published, and with which words, is decided where they happen. Only what everybody may see
is published.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass

from django.db import models

from tournament.models import BotVersion, FeedEntry, Ladder, Tournament
from tournament.models.feeds import feed_of


@dataclass(frozen=True, slots=True)
class PublishedEvent:
    """An event with the subjects (bots, ladders, tournaments, users) in whose feeds it stands."""

    key: str
    """Identifies the event for good; a path below the page of its subject."""
    title: str
    text: str
    feeds: tuple[models.Model, ...]
    version: BotVersion | None = None
    tournament: Tournament | None = None
    ladder: Ladder | None = None
    path: str = ""
    """The same path as that of ``FeedEntry``."""
    is_repeatable: bool = True
    """Whether a repeated event updates its entry; otherwise the first entry stays as it is."""


def publish(events: Iterable[PublishedEvent], now: datetime.datetime) -> None:
    """Store the entries; part of the caller's transaction. One statement for each event."""
    for event in events:
        entries = [
            FeedEntry(
                feed=feed_of(subject),
                key=event.key,
                title=event.title,
                text=event.text,
                version=event.version,
                tournament=event.tournament,
                ladder=event.ladder,
                path=event.path,
                published_at=now,
                updated_at=now,
            )
            for subject in event.feeds
        ]
        if event.is_repeatable:
            FeedEntry.objects.bulk_create(
                entries,
                update_conflicts=True,
                unique_fields=["feed", "key"],
                update_fields=["title", "text", "updated_at"],
            )
        else:
            FeedEntry.objects.bulk_create(entries, ignore_conflicts=True)


def path_of(subject: models.Model) -> str:
    """The beginning of the keys of a subject's events: its page's path, without slashes at the ends."""
    return str(subject.get_absolute_url()).strip("/")  # type: ignore[attr-defined]
