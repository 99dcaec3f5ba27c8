"""How a validation ends: the version is refused with its bytes, accepted, or put off."""

from __future__ import annotations

import logging
from functools import partial

from django.conf import settings
from django.db import transaction

from tournament.models import BotVersion
from tournament.services.activity import activate
from workers.bundles import drop_bundle

log = logging.getLogger("tournament.verdicts")


def refuse(version: BotVersion, reason: str) -> None:
    """Its validation failed; part of the caller's transaction, with which the bundle's bytes go."""
    _settle(version, BotVersion.State.REFUSED, reason)
    others = BotVersion.objects.filter(bundle=version.bundle_id).exclude(state=BotVersion.State.REFUSED)
    if not others.exists():
        transaction.on_commit(partial(drop_bundle, settings.BUNDLES, version.bundle_id))


def accept(version: BotVersion) -> None:
    """Its validation went well: it plays from now on; part of the caller's transaction."""
    if _settle(version, BotVersion.State.VALID, ""):
        activate(version)


def put_off(version: BotVersion, reason: str) -> None:
    """Its validation could not be had for no fault of its own: it waits for a person, or the next start."""
    log.error("the validation of %s is put off: %s", version, reason)
    _settle(version, BotVersion.State.WAITING, reason)


def _settle(version: BotVersion, state: BotVersion.State, reason: str) -> int:
    validating = BotVersion.objects.filter(pk=version.pk, state=BotVersion.State.VALIDATING)
    return validating.update(state=state, state_reason=reason)
