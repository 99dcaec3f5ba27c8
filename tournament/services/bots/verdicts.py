"""The end of a validation: the version is refused and its bundle deleted, accepted, or put off."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from django.conf import settings
from django.db import transaction

from engines.bundles.store import drop_bundle
from tournament.models import BotVersion
from tournament.services.bots.activity import activate
from tournament.services.bots.publishing import tell_refused, tell_valid

log = logging.getLogger("tournament.verdicts")


def refuse(version: BotVersion, reason: str) -> None:
    """Refuse a version; part of the caller's transaction, on whose commit the bundle's file is deleted."""
    if _set_state(version, BotVersion.State.REFUSED, reason):
        tell_refused(version, reason)
    drop_program(version)


def drop_program(version: BotVersion) -> None:
    """Delete the bundle's file on the commit of the caller's transaction, unless another version needs it."""
    if not BotVersion.objects.with_program().filter(bundle=version.bundle_id).exists():
        transaction.on_commit(partial(drop_bundle, settings.BUNDLES, version.bundle_id))


def accept(version: BotVersion, reason: str = "") -> None:
    """Accept a version, which is active from now on; part of the caller's transaction."""
    if _set_state(version, BotVersion.State.VALID, reason):
        activate(version)
        tell_valid(version)


def put_off(version: BotVersion, reason: str) -> None:
    """Make a version wait whose validation failed without its fault; staff or the next start tries again."""
    log.error("the validation of %s is put off: %s", version, reason)
    _set_state(version, BotVersion.State.WAITING, reason)


def _set_state(version: BotVersion, state: BotVersion.State, reason: str) -> int:
    validating = BotVersion.objects.filter(pk=version.pk, state=BotVersion.State.VALIDATING)
    return validating.update(state=state, state_reason=reason)


VERDICTS: dict[str, Callable[[BotVersion, str], None]] = {
    BotVersion.State.VALID: accept,
    BotVersion.State.REFUSED: refuse,
    BotVersion.State.WAITING: put_off,
}
"""What a new state of a version in validation takes."""
