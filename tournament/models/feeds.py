"""Entries of the Atom feeds, and who follows which feed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.urls import reverse


class FeedEntryQuerySet(models.QuerySet["FeedEntry"]):
    def of(self, subject: models.Model) -> FeedEntryQuerySet:
        """The entries of a subject's feed, the latest first."""
        return (
            self.filter(feed=feed_of(subject))
            .select_related("version__bot", "tournament", "ladder")
            .order_by("-updated_at", "-id")
        )


def feed_of(subject: models.Model) -> str:
    """The name of the feed of a bot, ladder, tournament or user."""
    return f"{subject._meta.model_name}/{subject.pk}"


def ids_of(feeds: Iterable[str], kind: type[models.Model]) -> list[str]:
    """The primary keys of the subjects of this kind."""
    parts = (feed.partition("/") for feed in feeds)
    return [pk for name, _, pk in parts if name == kind._meta.model_name]


class FeedEntry(models.Model):
    """One event in one feed; written in the transaction of the event, so that a feed reads no games."""

    feed = models.CharField(max_length=60)
    """See ``feed_of``."""
    key = models.CharField(max_length=200)
    """Identifies the event in all feeds; a repeated event updates its entry."""
    title = models.CharField(max_length=300)
    text = models.TextField(blank=True)
    version = models.ForeignKey("BotVersion", null=True, on_delete=models.CASCADE, related_name="+")
    """The version that it is about."""
    tournament = models.ForeignKey("Tournament", null=True, on_delete=models.CASCADE, related_name="+")
    """The tournament that it is about."""
    ladder = models.ForeignKey("Ladder", null=True, on_delete=models.CASCADE, related_name="+")
    """The ladder that it is about."""
    path = models.CharField(max_length=300, blank=True, default="")
    """The page with more, if it is not that of one of these."""
    published_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects = FeedEntryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "feed entries"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["feed", "key"], name="feed_entry_once_an_event")
        ]
        indexes: ClassVar = [
            models.Index(fields=["feed", "-updated_at", "-id"], name="feed_latest"),
            models.Index(fields=["updated_at"], name="feed_entry_updated"),
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        """The page with more: ``path``, or a tournament's, a ladder's, or a version's."""
        if self.path:
            return self.path
        subject = self.tournament or self.ladder or self.version
        return subject.get_absolute_url() if subject else reverse("home")


class Follow(models.Model):
    """A user follows a bot, ladder, tournament or user; nobody else sees it."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="follows", db_index=False
    )
    feed = models.CharField(max_length=60)
    """See ``feed_of``; its subject may be deleted or hidden meanwhile."""

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["user", "feed"], name="follow_once_a_feed")]

    def __str__(self) -> str:
        return f"{self.user_id} {self.feed}"
