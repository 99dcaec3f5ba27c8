"""Refuses an upload, or stores its bundle as a new version and begins the validation.

``engines.bundles`` judges the content of the zip; size, quota, owner and repeats are checked here.
"""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass
from typing import BinaryIO

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Sum
from django.utils import timezone

from engines.bundles.archive import as_file
from engines.bundles.manifest import BundleError, Manifest
from engines.bundles.store import hash_bundle, inspect_bundle, store_bundle
from tournament import access
from tournament.models import Bot, BotVersion, Bundle, User
from tournament.models.bots import MAX_NAME_KEY
from tournament.models.names import name_key
from tournament.services.bots.activity import activate
from tournament.services.bots.publishing import tell_valid
from tournament.services.locks import lock_row
from tournament.services.uploads import availability as uploads
from tournament.services.uploads.validation import begin
from workers.sandbox.runtimes import find_runtime

__all__ = [
    "AnotherBotError",
    "BundleError",
    "ReadBundle",
    "add_version",
    "read_bundle",
    "store_upload",
    "submit_bundle",
    "try_upload",
]


class AnotherBotError(BundleError):
    """A bundle of a bot for which the sender may not act."""


@dataclass(frozen=True, slots=True)
class ReadBundle:
    """A zip whose directory and ``bot.toml`` are what a bundle must have."""

    file: BinaryIO
    manifest: Manifest


def submit_bundle(
    user: User, data: bytes | BinaryIO, *, notes: str = "", only: Bot | None = None
) -> BotVersion:
    """Store a zip as the next version of the bot named in its manifest, or of a new bot.

    Raises ``BundleError``, one sentence, and then stores nothing; see ``read_bundle`` and ``store_upload``.
    """
    return store_upload(user, read_bundle(data), notes=notes, only=only)


def read_bundle(data: bytes | BinaryIO) -> ReadBundle:
    """Check a zip's size, directory and ``bot.toml``, without reading it all; raises ``BundleError``."""
    file = as_file(data)
    if file.seek(0, os.SEEK_END) > settings.MAX_BUNDLE_BYTES:
        raise BundleError(f"the zip is larger than {settings.MAX_BUNDLE_BYTES // 2**20} MB")
    return ReadBundle(file, inspect_bundle(file, max_bytes=settings.MAX_BUNDLE_BYTES, find=find_runtime))


def store_upload(user: User, bundle: ReadBundle, *, notes: str = "", only: Bot | None = None) -> BotVersion:
    """Store a new version; raises ``BundleError``, and ``AnotherBotError`` if it is not of the bot ``only``.

    Its validation begins at once if uploads are run on this site; otherwise it waits, with the reason.
    """
    version = _store(user, bundle, notes, only)
    if uploads.current_state().are_run:
        begin(version, timezone.now())
        version.refresh_from_db()
    return version


def try_upload(user: User, bundle: ReadBundle, *, only: Bot | None = None) -> BotVersion:
    """The version that ``store_upload`` would store; raises as it does, and stores nothing."""
    return _store(user, bundle, "", only, is_trial=True)


def _store(
    user: User, bundle: ReadBundle, notes: str, only: Bot | None, *, is_trial: bool = False
) -> BotVersion:
    """The rows first, the file last: a refused bundle leaves neither, nor does a trial."""
    try:
        with transaction.atomic():
            version = _store_rows(user, bundle, notes, only)
            if is_trial:
                transaction.set_rollback(True)
            else:
                store_bundle(settings.BUNDLES, bundle.file)
    except IntegrityError:  # an upload at the same time has the same name or the same content
        raise BundleError(f"{bundle.manifest.name!r} was uploaded at the same moment: try again") from None
    return version


def _store_rows(user: User, bundle: ReadBundle, notes: str, only: Bot | None) -> BotVersion:
    _check_quota(user)
    bot = _bot_for(user, bundle.manifest.name)
    if only is not None and bot != only:
        raise AnotherBotError(f"the bundle is of {bot.name!r}, and this token is for {only.name!r} alone")
    sha256, size = hash_bundle(bundle.file)
    _check_space(user, size)
    row, _ = Bundle.objects.get_or_create(sha256=sha256, defaults={"size": size})
    _refuse_known(bot, row)
    return add_version(
        bot,
        row,
        bundle.manifest,
        state=BotVersion.State.WAITING,
        state_reason=uploads.waiting_reason(),
        notes=notes,
    )


def add_version(
    bot: Bot,
    bundle: Bundle,
    manifest: Manifest,
    *,
    state: BotVersion.State,
    state_reason: str = "",
    notes: str = "",
) -> BotVersion:
    """Create the bot's next version from its manifest; a valid one is activated."""
    latest = bot.versions.order_by("-number").values_list("number", flat=True).first() or 0
    version = BotVersion.objects.create(
        bot=bot,
        number=latest + 1,
        label=manifest.version,
        bundle=bundle,
        command=list(manifest.command),
        games=list(manifest.games),
        options=dict(manifest.options),
        notes=notes,
        state=state,
        state_reason=state_reason,
    )
    if state == BotVersion.State.VALID:
        activate(version)
        tell_valid(version)
    return version


def _check_quota(user: User) -> None:
    """Check that one more version of the user may wait; part of the caller's transaction.

    Locks the user's row: of two simultaneous uploads the second counts the first.
    """
    lock_row(User.objects.all(), user.pk)
    open_ones = [BotVersion.State.WAITING, BotVersion.State.VALIDATING]
    count = BotVersion.objects.filter(bot__owner=user, state__in=open_ones).count()
    if count >= settings.MAX_PENDING:
        raise BundleError(
            f"{count} versions of yours wait or are being validated, and this site takes no more than "
            f"{settings.MAX_PENDING} of one user at a time: wait until one is validated"
        )


def _check_space(user: User, size: int) -> None:
    """Check that the site keeps one more bundle of this size for the user, whose row is locked."""
    mine = BotVersion.objects.with_program().filter(bot__owner=user)
    kept = Bundle.objects.filter(pk__in=mine.order_by().values("bundle"))
    used = kept.aggregate(bytes=Sum("size"))["bytes"] or 0
    if used + size <= settings.MAX_STORED_BYTES or not access.has_limits(user):
        return
    passed = mine.filter(state__in=BotVersion.VALIDATED, activities=None).select_related("bot")
    oldest = ", ".join(map(str, passed.order_by("created_at")[:3])) or "one that is active"
    raise BundleError(
        f"the programs of your bots take {used / 2**20:.1f} MB, this one {size / 2**20:.1f} MB, and the site "
        f"keeps {settings.MAX_STORED_BYTES / 2**20:.0f} MB for one user: withdraw versions that you need no "
        f"more, and delete their programs on their pages, the oldest first: {oldest}"
    )


def _bot_for(user: User, name: str) -> Bot:
    """The user's bot of this name; created if nobody has the name."""
    name = unicodedata.normalize("NFC", name)
    if len(name_key(name)) > MAX_NAME_KEY:
        raise BundleError(f"the name {name!r} is too long: some of its characters stand for whole words")
    bot = Bot.objects.named(name)
    if bot is None:
        if alike := Bot.objects.looking_like(name):
            raise BundleError(f"the name {name!r} looks like that of the bot {alike.name!r}: choose another")
        return Bot.objects.register(user, name)
    if bot.owner_id != user.pk:
        raise BundleError(f"the name {name!r} belongs to another owner's bot: choose another")
    return bot


def _refuse_known(bot: Bot, bundle: Bundle) -> None:
    if known := bot.versions.filter(bundle=bundle).first():
        refused = ", which was refused" if known.state == BotVersion.State.REFUSED else ""
        raise BundleError(f"the same bytes are already {str(known)!r}{refused}")
