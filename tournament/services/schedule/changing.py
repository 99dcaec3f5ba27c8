"""Changes of a tournament before its start: its terms, its entries, its times."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import replace

from django.db import transaction
from django.utils import timezone

from tournament.formats.base import TournamentError
from tournament.models import Bot, BotVersion, Entry, Tournament
from tournament.services.schedule.entries import check_choice
from tournament.services.schedule.limits import check_stored, lock_account
from tournament.services.schedule.pairings import check_openings, drop_pairings, entered_versions, make_games
from tournament.services.schedule.publishing import tell_changed
from tournament.services.schedule.terms import (
    TournamentTerms,
    check_times,
    checked_terms,
    find_off_terms,
    stored_terms,
)
from tournament.services.schedule.tournaments import columns_of, entry_rows, lock_in_state, queue_known

State = Tournament.State


def change(
    tournament: Tournament, edit: Callable[[TournamentTerms], TournamentTerms], without: int | None = None
) -> None:
    """Change a draft or an announced tournament; raises ``TournamentError`` and changes nothing.

    ``edit`` gets the terms with the entered versions that are valid, and returns the new ones; what others
    have entered meanwhile is therefore in them. Entries of versions that are not valid stay: their bots may
    have others until the start. ``without`` is the id of a bot whose entry is removed, whether or not its
    version is valid. Owners of entered bots are told if it is announced.
    """
    _change(tournament, edit, without)
    make_games(tournament)
    tournament.refresh_from_db()


@transaction.atomic
def _change(
    tournament: Tournament, edit: Callable[[TournamentTerms], TournamentTerms], without: int | None
) -> None:
    lock_account(tournament.owner_id)
    locked = lock_in_state(
        tournament, [State.DRAFT, State.ANNOUNCED], "only before its start can it be changed"
    )
    if not locked.format.choice:
        raise TournamentError(f"kind: a {locked.get_kind_display()} cannot be changed")
    entered = entered_versions(locked)
    before = stored_terms(locked, [one for one in entered if one.state == BotVersion.State.VALID])
    terms = edit(before)
    _check_changed_times(locked, terms)
    terms = checked_terms(terms)
    if locked.state == State.ANNOUNCED:
        terms = replace(terms, starts_at=terms.starts_at or terms.entry_until)
    columns = columns_of(terms)
    changed = [name for name, value in columns.items() if getattr(locked, name) != value]
    changes = {name: columns[name] for name in changed} | {"off_terms": find_off_terms(terms)}
    Tournament.objects.filter(pk=locked.pk).update(**changes)
    locked.refresh_from_db()
    entries = _new_entries(entered, before, terms, without)
    known = {one.bot_id for one in entered}
    check_choice(locked.owner, [one for one in entries if one.bot_id not in known])
    bots = {one.bot_id for one in entries}
    removed = [one for one in entered if one.bot_id not in bots]
    if entries != entered:
        own = set(locked.entries.filter(by_owner=True).values_list("version__bot", flat=True))
        locked.entries.all().delete()
        Entry.objects.bulk_create(entry_rows(locked, entries, own))
    check_stored(locked, entered_versions(locked))
    check_openings(locked)
    drop_pairings(locked)
    queue_known(locked, terms)
    if locked.state == State.ANNOUNCED:
        tell_changed(locked, changed, removed)


def remove(tournament: Tournament, bot: Bot) -> None:
    """Remove the entry of a bot before the start; raises ``TournamentError`` if it is needed."""

    def without(terms: TournamentTerms) -> TournamentTerms:
        challenger = tournament.entries.order_by("number").values_list("version__bot", flat=True).first()
        if terms.format.has_challenger and challenger == bot.pk:
            raise TournamentError(f"bots: {bot.name!r} is the challenger, without which nothing is played")
        return replace(terms, versions=[one for one in terms.versions if one.bot_id != bot.pk])

    change(tournament, without, bot.pk)


def _new_entries(
    entered: Sequence[BotVersion], before: TournamentTerms, terms: TournamentTerms, without: int | None
) -> list[BotVersion]:
    """The versions that are entered after a change: those of the terms, and those that are not valid now.

    The order changes only with those of the terms; a challenger that is not valid stays the challenger.
    """
    is_met = terms.format.has_challenger
    is_reordered = list(terms.versions) != list(before.versions) or is_met > before.format.has_challenger
    if without is not None or not is_reordered:
        return [one for one in entered if one.bot_id != without]
    chosen = {one.bot_id for one in terms.versions}
    kept = [one for one in entered if one not in before.versions and one.bot_id not in chosen]
    versions = [*terms.versions, *kept]
    if is_met and before.format.has_challenger and entered[0] not in before.versions:
        versions.sort(key=lambda one: one.bot_id != entered[0].bot_id)
    return versions


def _check_changed_times(tournament: Tournament, terms: TournamentTerms) -> None:
    """Check the times of a changed tournament; a deadline that has passed stays as it is."""
    until = terms.entry_until
    if tournament.entry_closed and until != tournament.entry_until:
        raise TournamentError("entry until: the entries are closed")
    if tournament.state == State.ANNOUNCED:
        if until is None and tournament.entry_until is not None:
            raise TournamentError("entry until: the deadline can be moved, but not removed")
        check_times(timezone.now(), terms.starts_at or until, None if tournament.entry_closed else until)


def set_times(
    tournament: Tournament, starts_at: datetime.datetime | None, entry_until: datetime.datetime | None
) -> None:
    """Move the start or the end of entry; raises ``TournamentError``, see ``change``."""
    change(tournament, lambda terms: replace(terms, starts_at=starts_at, entry_until=entry_until))
