"""Users, their tokens and their notices."""

from __future__ import annotations

import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.functions import Lower
from django.urls import reverse
from django.utils import timezone

from tournament.models.names import MAX_LOOK, look_key, look_keys

UNREACHABLE = (".", "..")
"""Parts of an address that name a folder."""


class User(AbstractUser):
    """A user account; staff runs the site."""

    class DigestPeriod(models.TextChoices):
        NEVER = "", "never"
        DAILY = "daily", "daily"
        WEEKLY = "weekly", "weekly"

    look = models.CharField(max_length=MAX_LOOK, db_index=True, editable=False, default="")
    """The same for usernames that look alike, see ``look_key``; older accounts may share one."""

    seen_at = models.DateTimeField(default=timezone.now, editable=False)
    """The latest page, some minutes late; see ``services.accounts.visits``."""
    left_at = models.DateTimeField(null=True, editable=False)
    """The end of the visit before the latest one; null before the second visit."""

    digest = models.CharField(
        max_length=6, choices=DigestPeriod.choices, blank=True, default=DigestPeriod.NEVER, editable=False
    )
    digest_at = models.DateTimeField(null=True, editable=False)
    """Up to when digests by mail tell what happened; null before the first choice."""

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.look = look_key(self.username)
        super().save(*args, **kwargs)

    def clean(self) -> None:
        """Refuse a name that has no page, because browsers resolve such a part of an address."""
        super().clean()
        if self.username in UNREACHABLE:
            raise ValidationError("The name must have a character that is no dot: it has a page of its own.")

    def lookalike(self) -> User | None:
        """The oldest other account whose username can be taken for this one."""
        others = User.objects.filter(look__in=look_keys(self.username)).exclude(pk=self.pk)
        return others.order_by("pk").first()

    def get_absolute_url(self) -> str:
        """The public page; see ``access.may_see_profile``."""
        return reverse("person", args=[self.username])

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                Lower("username"),
                name="user_name_whatever_case",
                violation_error_message="A user with that username exists already.",
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["digest", "digest_at"], condition=~models.Q(digest=""), name="digest_due")
        ]

    @property
    def unread_count(self) -> int:
        """Unread notices; at most one more than ``MAX_NOTICES``, so that counting stays cheap."""
        return self.notices.filter(read_at__isnull=True)[: MAX_NOTICES + 1].count()


class TokenQuerySet(models.QuerySet["Token"]):
    def valid(self, now: datetime.datetime) -> TokenQuerySet:
        """Those that are neither revoked nor at their end."""
        return self.filter(revoked_at__isnull=True).exclude(ends_at__lte=now)


class Token(models.Model):
    """A key for a user's programs; only its hash is stored, so it is shown once, when it is created."""

    class Scope(models.TextChoices):
        UPLOAD = "bots:upload", "bots:upload: send bots and follow their validation"
        TESTS = "tests:write", "tests:write: start and stop version tests"
        EVENTS = (
            "events:write",
            "events:write: create and control tournaments, enter and withdraw bots, start matches",
        )
        LOGS = "logs:read", "logs:read: see the state and the reports of my bots"
        PLAY = "play", "play: ask bots for searches and analyses, follow, report problems with games"
        WORKER = "worker", "worker: register as a worker on another host, and fetch every bot's bundle"
        """Only for staff; it allows nothing else."""
        OWN_WORKER = (
            "worker: own",
            "worker: own: run a worker at home for my own tests and unrated tournaments",
        )
        """It fetches only bundles that its user may download, and allows nothing else."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=40)
    """The owner's own name for it."""
    digest = models.CharField(max_length=64, unique=True)
    """SHA-256 in hex of the token, which is too long to be guessed."""
    scopes = models.JSONField()
    """A list of ``Scope`` values."""
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(null=True, blank=True)
    """The last use, to the minute."""
    revoked_at = models.DateTimeField(null=True, blank=True)
    ends_at = models.DateTimeField(null=True, blank=True)
    """It is refused from then on; null: it has no end."""
    bot = models.ForeignKey("Bot", null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    """The only bot for which it may act; null: all of its user."""

    objects = TokenQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return self.name

    def is_valid(self, now: datetime.datetime) -> bool:
        """Whether it is neither revoked nor at its end."""
        return self.revoked_at is None and (self.ends_at is None or now < self.ends_at)

    @property
    def is_of_own_worker(self) -> bool:
        """Whether its worker plays for its user alone. A token for the site's workers is none of these."""
        return self.Scope.OWN_WORKER in self.scopes and self.Scope.WORKER not in self.scopes


class KeptAnswer(models.Model):
    """The answer to a request that created something and had a key, so that a repeat creates nothing more.

    Stored in the transaction of the creation, and deleted after a day.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    """The client's own."""
    digest = models.CharField(max_length=64)
    """SHA-256 in hex of the request."""
    status = models.PositiveSmallIntegerField(default=0)
    answer = models.BinaryField(default=bytes)
    """The body of the response, JSON."""
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "key"], name="kept_answer_once_a_key")
        ]

    def __str__(self) -> str:
        return self.key


class Act(models.Model):
    """Something that staff did with the rights of staff; written once and never changed."""

    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    """Null: the actor's account is deleted, or nobody was logged in."""
    actor_name = models.CharField(max_length=150)
    """The username at that time, or the command that did it."""
    deed = models.CharField(max_length=300)
    """What was done, as a clause in the past: "set the priority to 7"."""
    subject = models.CharField(max_length=200)
    """The name of what was changed, with its kind: "tournament Spring"."""
    path = models.CharField(max_length=300, blank=True)
    """The page of the subject on this site; empty if it has none."""
    at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.actor_name} {self.deed}: {self.subject}"


class WaitingMail(models.Model):
    """A mail that the mail server has not taken yet; the row is deleted when it is sent or given up."""

    to = models.EmailField(max_length=254)
    subject = models.CharField(max_length=998)
    text = models.TextField()
    headers = models.JSONField(default=dict)
    """Further headers, by name."""
    at = models.DateTimeField()
    """When it was to be sent."""
    tried_at = models.DateTimeField()
    """When it was last tried, or put behind others that wait."""
    trouble = models.CharField(max_length=300)
    """What the mail server or the connection to it said."""

    def __str__(self) -> str:
        return f"mail to {self.to}"


class Allowance(models.Model):
    """How many requests a user's programs may still make; refills with time."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True)
    left = models.FloatField()
    """The number at the time ``at``; see ``tournament.services.accounts.tokens``."""
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.user_id}: {self.left:.0f}"


MAX_NOTICES = 50
"""How many are shown at once."""


class NoticeQuerySet(models.QuerySet["Notice"]):
    def unread(self) -> NoticeQuerySet:
        """Newest first, as many as a page shows."""
        unread = self.filter(read_at__isnull=True).order_by("-id")
        return unread.select_related("version__bot", "tournament")[:MAX_NOTICES]

    def latest_read(self) -> NoticeQuerySet:
        """Those that were read last, as many as a page shows."""
        read = self.filter(read_at__isnull=False).order_by("-read_at", "-id")
        return read.select_related("version__bot", "tournament")[:MAX_NOTICES]


class Notice(models.Model):
    """A message to a user; the account's page shows it until the user dismisses it, and then below."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices")
    version = models.ForeignKey("BotVersion", null=True, on_delete=models.CASCADE, related_name="+")
    """The version that it is about."""
    tournament = models.ForeignKey("Tournament", null=True, on_delete=models.CASCADE, related_name="+")
    """The tournament that it is about."""
    path = models.CharField(max_length=300, blank=True, default="")
    """The page of the game or of the pairs of bots that it is about; empty if it is about something else."""
    subject = models.CharField(max_length=60, blank=True)
    """A user has one unread notice a subject; a new one replaces it. Empty: none is replaced."""
    is_warning = models.BooleanField(default=True)
    """Whether it reports a problem."""
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(null=True, blank=True)

    objects = NoticeQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["user", "subject"],
                condition=models.Q(read_at__isnull=True) & ~models.Q(subject=""),
                name="notice_once_a_subject",
            )
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["user", "-id"], condition=models.Q(read_at__isnull=True), name="notice_unread"
            )
        ]

    def __str__(self) -> str:
        return self.text
