"""Bots, their immutable versions, and the bundles that hold their files."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from django.conf import settings
from django.db import models
from django.urls import reverse

from tournament.models.names import MAX_LOOK, latin_slug, look_key, look_keys, name_key
from workers.jobs import EngineSpec

if TYPE_CHECKING:
    from tournament.models.people import User


class Bundle(models.Model):
    """A bot's zip, identified by its content; stored once for any number of versions."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    size = models.BigIntegerField()
    """The size in bytes."""
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.sha256[:12]

    @property
    def path(self) -> Path:
        return settings.BUNDLES / self.sha256[:2] / f"{self.sha256}.zip"


MAX_NAME_KEY = 160
MAX_LICENCE, MAX_SOURCE = 100, 200


class BotQuerySet(models.QuerySet["Bot"]):
    def named(self, name: str) -> Bot | None:
        """The bot with this name, ignoring case."""
        return self.filter(name_key=name_key(name)).first()

    def called(self, name: str) -> Bot | None:
        """The bot with this name, ignoring case, or else the one with this slug."""
        if not name.isprintable():
            return None
        return self.named(name) or self.filter(slug=name).first()

    def looking_like(self, name: str) -> Bot | None:
        """The oldest bot whose name can be taken for this one."""
        return self.filter(look__in=look_keys(name)).order_by("pk").first()

    def register(self, owner: User | None, name: str) -> Bot:
        """Create a bot; raises ``IntegrityError`` if the name is taken."""
        base = latin_slug(name, "bot")
        taken = set(self.filter(slug__startswith=base).values_list("slug", flat=True))
        slug, suffix = base, 2
        while slug in taken:
            slug, suffix = f"{base}-{suffix}", suffix + 1
        return self.create(owner=owner, name=name, name_key=name_key(name), look=look_key(name), slug=slug)


class Bot(models.Model):
    """A bot that a user owns: a name under which versions play."""

    class EnteredBy(models.TextChoices):
        """Who may choose it for events, beside its owner; ladders have switches of their own."""

        EVERYBODY = "everybody", "everybody"
        STAFF = "staff", "only staff"
        OWNER = "owner", "only its owner"

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="bots"
    )
    """Null: it belongs to the site."""
    name = models.CharField(max_length=40)
    """Never changes: records and ratings identify players by it."""
    name_key = models.CharField(max_length=MAX_NAME_KEY, unique=True, editable=False)
    """The name normalized for comparison, see ``name_key``."""
    look = models.CharField(max_length=MAX_LOOK, db_index=True, editable=False, default="")
    """The same for names that look alike, see ``look_key``; older bots may share one."""
    slug = models.SlugField(max_length=60, unique=True)
    description = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    entered_by = models.CharField(max_length=10, choices=EnteredBy.choices, default=EnteredBy.EVERYBODY)
    answers = models.BooleanField(default=False)
    """Whether its owner lets everybody ask it for searches and play against it. Samples always answer."""

    objects = BotQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["name_key"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("bot", args=[self.slug])

    @property
    def is_sample(self) -> bool:
        return self.owner_id is None


class BotVersionQuerySet(models.QuerySet["BotVersion"]):
    def valid(self) -> BotVersionQuerySet:
        return self.filter(state=BotVersion.State.VALID)

    def with_program(self) -> BotVersionQuerySet:
        """Versions whose bundle is kept."""
        return self.filter(has_program=True).exclude(state=BotVersion.State.REFUSED)

    def published(self) -> BotVersionQuerySet:
        """Versions whose bundle everybody may download: the samples, and those with a licence."""
        return self.with_program().filter(models.Q(bot__owner=None) | ~models.Q(licence=""))

    def entering(self, ladders: Collection[str] | None = None) -> BotVersionQuerySet:
        """Versions that enter new tournaments on at least one ladder; bots by name, newest version first.

        On one of ``ladders`` if they are given.
        """
        active = ActiveVersion.objects.filter(version=models.OuterRef("pk"), enabled=True)
        if ladders is not None:
            active = active.filter(ladder__in=ladders)
        entering = self.valid().filter(models.Exists(active)).select_related("bot")
        return entering.order_by("bot__name_key", "-number")


class BotVersion(models.Model):
    """One immutable state of a bot: its files and the command that starts them."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        """Uploads are not run on this site; ``state_reason`` explains how to change that."""
        VALIDATING = "validating", "validating"
        VALID = "valid", "valid"
        REFUSED = "refused", "refused"
        """Its validation failed; ``state_reason`` holds the reason. Its bundle is deleted."""
        WITHDRAWN = "withdrawn", "withdrawn"
        """It was valid and forfeited too often, see ``state_reason``. It enters no new tournament."""

    VALIDATED: ClassVar = [State.VALID, State.WITHDRAWN]
    """States of versions that have passed their validation."""

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    """Counted by the server from 1, for each bot separately."""
    label = models.CharField(max_length=40, blank=True)
    """The author's own name for this version."""
    bundle = models.ForeignKey(Bundle, on_delete=models.PROTECT, related_name="versions")
    command = models.JSONField()
    """The argument vector, a list of strings, relative to the bundle's root."""
    games = models.JSONField()
    """Codes of the ladders it plays."""
    options = models.JSONField(default=dict)
    """Options sent to it with ``setoption``: name to value, both strings."""
    notes = models.TextField(blank=True)
    """The author's notes on what is new."""
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    state_reason = models.TextField(blank=True)
    """One sentence for readers of the version's page; empty if there is nothing to explain."""
    validation = models.ForeignKey(
        "Tournament", null=True, blank=True, on_delete=models.SET_NULL, related_name="validated_versions"
    )
    """The tournament of this version against itself that decides whether it may play."""
    forfeits = models.PositiveIntegerField(default=0)
    """The number of its latest recorded games in a row that it lost by its own fault, without validations."""
    has_games_to_end = models.BooleanField(default=False)
    """Withdrawn, and its open games are not ended yet, see ``services.schedule.walkovers``."""
    has_program = models.BooleanField(default=True)
    """False: it was withdrawn and its bundle deleted, at its owner's wish."""
    licence = models.CharField(max_length=MAX_LICENCE, blank=True, default="")
    """Under which its owner publishes its bundle: an SPDX identifier or other words. Empty: it is not."""
    source = models.URLField(max_length=MAX_SOURCE, blank=True, default="")
    """Where the owner of a published version shows its source; may be empty."""
    created_at = models.DateTimeField(auto_now_add=True)

    objects = BotVersionQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["bot", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["bot", "number"], name="version_number_once_a_bot"),
            models.UniqueConstraint(fields=["bot", "bundle"], name="version_bundle_once_a_bot"),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="version_number_from_one"),
            models.CheckConstraint(
                condition=models.Q(state__in=["waiting", "validating", "valid", "refused", "withdrawn"]),
                name="version_state_known",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["has_games_to_end"],
                condition=models.Q(has_games_to_end=True),
                name="version_games_to_end",
            )
        ]

    def __str__(self) -> str:
        return f"{self.bot.name} v{self.number}"

    def get_absolute_url(self) -> str:
        return reverse("version", args=[self.bot.slug, self.number])

    def plays(self, ladder: str) -> bool:
        return ladder in self.games

    def engine_spec(self) -> EngineSpec:
        """How a worker starts this version, and its name in records."""
        return EngineSpec(
            name=self.bot.name,
            version=str(self.number),
            command=tuple(self.command),
            bundle=self.bundle_id,
            options=tuple(self.options.items()),
        )


class ActiveVersion(models.Model):
    """The valid version of a bot that enters new tournaments on a ladder; at most one per bot and ladder.

    No row: no version of the bot enters. A newly valid version replaces the one before.
    """

    bot = models.ForeignKey(Bot, on_delete=models.CASCADE, related_name="activities")
    ladder = models.ForeignKey("Ladder", on_delete=models.CASCADE, related_name="+")
    version = models.ForeignKey(BotVersion, on_delete=models.CASCADE, related_name="activities")
    enabled = models.BooleanField(default=True)
    """False: the owner keeps the bot off this ladder, with any version."""

    class Meta:
        ordering: ClassVar = ["bot", "ladder"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["bot", "ladder"], name="active_once_a_bot_and_ladder")
        ]

    def __str__(self) -> str:
        return f"{self.ladder_id}: {self.version_id}{'' if self.enabled else ' (off)'}"
