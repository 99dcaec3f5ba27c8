"""Tournaments: create a draft, announce, start, pause, extend, cancel; `changing.py` changes them.

State and priority of a tournament are columns, which are read whenever a slot asks for work.
"""

from __future__ import annotations

import datetime
import secrets
from collections.abc import Container, Iterable, Sequence
from dataclasses import fields
from typing import Any

from django.db import transaction
from django.utils import timezone

from engines.formats.rated import UNRATED, Unrated
from engines.pairing.meetings import GAMES_A_PAIR
from engines.rules.registry import GAMES
from tournament.formats.base import MAX_ROUNDS, TournamentError
from tournament.formats.round_robin import RoundRobin
from tournament.models import Attempt, BotVersion, Entry, Game, Ladder, Tournament, User
from tournament.services.locks import lock_tournament
from tournament.services.schedule.entries import (
    check_challenger,
    check_choice,
    close_entries,
    kept_entries,
    leave_out,
)
from tournament.services.schedule.finishing import cancel_open_games
from tournament.services.schedule.limits import check_limits, check_running, check_stored, lock_account
from tournament.services.schedule.pairings import (
    PAIRINGS_AT_ONCE,
    check_openings,
    drop_pairings,
    entered_versions,
    make_games,
    note_withdrawn,
    queue_cycles,
)
from tournament.services.schedule.publishing import (
    tell_announced,
    tell_begun,
    tell_cancelled,
    tell_continued,
)
from tournament.services.schedule.rounds import advance, seed_players
from tournament.services.schedule.slugs import draft_slug, name_slug, publish_slug
from tournament.services.schedule.terms import (
    MAX_NAME,
    MAX_PAIRS,
    MAX_PRIORITY,
    MAX_SEED,
    TournamentTerms,
    check_players,
    check_range,
    check_times,
    checked_terms,
    count_games,
    find_off_terms,
    players_of,
    read_openings,
)
from tournament.services.stopping import end_attempts

__all__ = [
    "TournamentError",
    "TournamentTerms",
    "announce",
    "cancel",
    "continue_cancelled",
    "create",
    "create_round_robin",
    "extend",
    "may_continue",
    "pause",
    "resume",
    "set_priority",
    "start",
    "start_match",
]

MATCH_TIME_CONTROL, MATCH_PAIRS, MATCH_OPENING_PLIES = "1+0.05", 2, 4
"""The terms of a short match: a minute or two."""
GAMES_AT_ONCE = GAMES_A_PAIR * PAIRINGS_AT_ONCE
"""A draft with more games gets them at its start."""
CONTINUES = datetime.timedelta(days=1)
"""The time after its cancelling in which a tournament can be continued."""
State = Tournament.State


def create(owner: User | None, terms: TournamentTerms) -> Tournament:
    """Store a draft; raises ``TournamentError`` and stores nothing.

    Stores its games too, if they are known and not more than ``GAMES_AT_ONCE``; otherwise, and if rounds are
    paired from results or bots are entered until a deadline, games are made at the start. Each pair is two
    games from one opening with both colours. The same seed gives the same openings for any players.
    """
    tournament = _create(owner, checked_terms(terms))
    try:
        make_games(tournament)
    except TournamentError:
        tournament.delete()
        raise
    tournament.refresh_from_db()
    return tournament


@transaction.atomic
def _create(owner: User | None, terms: TournamentTerms) -> Tournament:
    check_limits(owner, terms)
    check_choice(owner, terms.versions)
    tournament = _store(owner, terms)
    check_openings(tournament)
    queue_known(tournament, terms)
    return tournament


def queue_known(tournament: Tournament, terms: TournamentTerms) -> None:
    """Queue the cycles of a draft whose games are known and few; of others they are queued at its start."""
    is_known = tournament.format.has_cycles and terms.entry_until is None
    if is_known and sum(count_games(terms, terms.versions).values()) <= GAMES_AT_ONCE:
        queue_cycles(tournament, terms.pairs)


def create_round_robin(owner: User | None, **terms: Any) -> Tournament:
    """Store a round robin; ``terms`` are the fields of ``TournamentTerms``."""
    return create(owner, TournamentTerms(kind=RoundRobin.code, **terms))


@transaction.atomic
def start_match(owner: User, version: BotVersion, opponent: BotVersion) -> Tournament:
    """Start a short unrated match on all ladders that both play; raises ``TournamentError``."""
    name = f"{version.bot.name} against {opponent.bot.name}"
    terms = TournamentTerms(
        name="".join(filter(str.isprintable, name))[:MAX_NAME],  # old bots may have other characters
        versions=[version, opponent],
        ladders=[code for code in GAMES if version.plays(code) and opponent.plays(code)],
        pairs=MATCH_PAIRS,
        time_control=MATCH_TIME_CONTROL,
        seed=secrets.randbelow(MAX_SEED),
        opening_plies=MATCH_OPENING_PLIES,
        rated=False,
    )
    match = create(owner, terms)
    start(match)
    return match


@transaction.atomic
def announce(tournament: Tournament) -> None:
    """Show a draft to everybody until it starts automatically; raises ``TournamentError``."""
    lock_account(tournament.owner_id)
    locked = lock_in_state(tournament, [State.DRAFT], "only a draft can be announced")
    check_times(timezone.now(), locked.starts_at, locked.entry_until)
    check_running(locked)
    check_stored(locked, entered_versions(locked))
    locked.state = State.ANNOUNCED
    locked.starts_at = locked.starts_at or locked.entry_until
    publish_slug(locked)
    locked.save(update_fields=["state", "starts_at"])
    tell_announced(locked)
    tournament.refresh_from_db()


def start(tournament: Tournament) -> None:
    """Start a draft or an announced tournament; raises ``TournamentError`` in any other state.

    Closes the entries. Leaves out versions that were withdrawn since, with a sentence on the tournament's
    page. Makes the games, or those of the first round, unless the draft has them already; if they are many,
    only the first ones, and the beat makes the others.
    """
    _start(tournament)
    if tournament.format.is_staged:
        advance(tournament.pk)
    make_games(tournament)
    tournament.refresh_from_db()


@transaction.atomic
def _start(tournament: Tournament) -> None:
    lock_account(tournament.owner_id)
    locked = lock_in_state(
        tournament, [State.DRAFT, State.ANNOUNCED], "only a draft or an announced tournament can be started"
    )
    check_running(locked)
    publish_slug(locked)
    locked.state_reason = ""
    if gone := leave_out(locked):
        locked.state_reason = f"it began {gone}"
        drop_pairings(locked)
    if not locked.games_total:
        _make_games(locked)
    versions = entered_versions(locked)
    check_stored(locked, versions)
    note_withdrawn([version.pk for version in versions])
    locked.state, locked.started_at = State.RUNNING, timezone.now()
    locked.off_terms = find_off_terms(locked)
    locked.save(update_fields=["state", "state_reason", "started_at", "seeds", "off_terms"])
    tell_begun(locked)


@transaction.atomic
def pause(tournament: Tournament) -> None:
    """Stop its games, which are played again after ``resume``; raises ``TournamentError`` unless it runs."""
    locked = lock_in_state(tournament, [State.RUNNING], "only a running tournament can be paused")
    locked.state = State.PAUSED
    locked.save(update_fields=["state"])
    mine = Attempt.objects.filter(game__tournament=tournament)
    end_attempts(mine, Attempt.End.RELEASED, timezone.now())
    tournament.refresh_from_db()


@transaction.atomic
def resume(tournament: Tournament) -> None:
    """Continue a paused tournament; raises ``TournamentError`` unless it is paused."""
    lock_account(tournament.owner_id)
    locked = lock_in_state(tournament, [State.PAUSED], "only a paused tournament can be resumed")
    check_running(locked)
    check_stored(locked, entered_versions(locked))
    locked.state = State.RUNNING
    locked.save(update_fields=["state"])
    tournament.refresh_from_db()


@transaction.atomic
def set_priority(tournament: Tournament, priority: int) -> None:
    """Play its games before those of lower priority, from now on; raises ``TournamentError``."""
    _refuse_version_test(tournament)
    check_range("priority", priority, -MAX_PRIORITY, MAX_PRIORITY)
    Tournament.objects.filter(pk=tournament.pk).update(priority=priority)
    tournament.refresh_from_db()


def extend(tournament: Tournament, more: int, *, shown: int | None = None) -> None:
    """Add ``more`` cycles, or rounds of a Swiss, also after its end.

    Raises ``TournamentError``, also if ``shown`` is given and it does not have so many now.

    The schedule is the same as if the tournament had them from the beginning, without the meetings of
    versions that are withdrawn. If the new games are many, the beat makes them.
    """
    _extend(tournament, more, shown)
    make_games(tournament)
    tournament.refresh_from_db()


@transaction.atomic
def _extend(tournament: Tournament, more: int, shown: int | None) -> None:
    lock_account(tournament.owner_id)
    locked = lock_in_state(
        tournament,
        [State.RUNNING, State.PAUSED, State.FINISHED, State.HALTED],
        "only a tournament that was started, and not cancelled, can be extended",
    )
    check_running(locked)
    versions = entered_versions(locked)
    extends = locked.format.extends
    if not extends:
        raise TournamentError(f"kind: a {locked.get_kind_display()} cannot be extended")
    so_far = getattr(locked, extends)
    if shown not in (None, so_far):
        raise TournamentError(f"{extends}: it was extended since the page was shown: now there are {so_far}")
    check_range(extends, so_far + more, so_far + 1, {"pairs": MAX_PAIRS, "rounds": MAX_ROUNDS}[extends])
    setattr(locked, extends, so_far + more)
    left = [version for version in versions if version.state != BotVersion.State.WITHDRAWN]
    check_challenger(locked, versions)
    kept = {entry.version_id for entry in kept_entries(locked)}
    check_choice(locked.owner, [version for version in left if version.pk in kept])
    check_players(locked, left)
    check_stored(locked, versions)
    _check_still_on_terms(locked)
    if locked.format.has_cycles:
        gone = [version.pk for version in versions if version not in left]
        for code in locked.ladders if gone else ():
            absent = locked.absent.setdefault(code, {})
            absent |= {str(cycle): gone for cycle in range(so_far, so_far + more)}
        queue_cycles(locked, more)
    if locked.state != State.PAUSED:
        locked.state, locked.finished_at = State.RUNNING, None
    locked.save(update_fields=["state", "finished_at", "rounds", "pairs", "absent"])


def _check_still_on_terms(tournament: Tournament) -> None:
    """Raise ``TournamentError`` if more games would be rated that are not on the present terms."""
    for code, why in find_off_terms(tournament).items():
        if tournament.rates_on(code) and not tournament.rated_off_terms:
            raise TournamentError(
                f"rated: {UNRATED[Unrated(why)]} ({GAMES[code].name}), which were others when it began: start"
                " another one"
            )


@transaction.atomic
def cancel(tournament: Tournament, reason: str = "") -> None:
    """Play no further game, and stop those under way; recorded games stay, those of a draft are deleted.

    Raises ``TournamentError`` if it is over, or has no end.
    """
    _refuse_version_test(tournament)
    if tournament.format.is_endless:
        raise TournamentError(f"kind: {tournament.name!r} has no end: pause it instead")
    now = timezone.now()
    alive = Tournament.objects.filter(
        pk=tournament.pk, state__in=[State.DRAFT, State.ANNOUNCED, State.RUNNING, State.PAUSED]
    )
    was_draft = alive.filter(state=State.DRAFT).exists()
    ended = {"state": State.CANCELLED, "is_discarded": was_draft, "finished_at": now, "state_reason": reason}
    if not alive.update(**ended):
        tournament.refresh_from_db()
        raise TournamentError(f"state: {tournament.name!r} is {tournament.state} already")
    if was_draft and tournament.games_total <= GAMES_AT_ONCE:
        drop_pairings(tournament)
    else:
        cancel_open_games(tournament, now)
    tell_cancelled(tournament, reason, was_draft=was_draft)
    tournament.refresh_from_db()


def may_continue(tournament: Tournament, now: datetime.datetime) -> bool:
    """Whether it was cancelled after its start, less than ``CONTINUES`` ago."""
    ended = tournament.finished_at
    is_stopped = tournament.state == State.CANCELLED and tournament.started_at is not None
    is_event = tournament.format.has_places
    return is_event and is_stopped and ended is not None and now < ended + CONTINUES


def continue_cancelled(tournament: Tournament) -> None:
    """Play the games that were cancelled with it; raises ``TournamentError``, see ``may_continue``.

    Versions that were withdrawn since lose theirs without playing.
    """
    _continue_cancelled(tournament)
    make_games(tournament)
    tournament.refresh_from_db()


@transaction.atomic
def _continue_cancelled(tournament: Tournament) -> None:
    lock_account(tournament.owner_id)
    locked = lock_in_state(tournament, [State.CANCELLED], "only a cancelled tournament can be continued")
    if not may_continue(locked, timezone.now()):
        hours = CONTINUES.days * 24
        raise TournamentError(
            f"state: a tournament can be continued for {hours} hours after it was cancelled, if it had begun"
        )
    check_running(locked)
    versions = entered_versions(locked)
    check_stored(locked, versions)
    locked.games.filter(state=Game.State.CANCELLED).update(state=Game.State.WAITING)
    locked.games_to_make = locked.games_total - locked.games.count()
    locked.state, locked.state_reason, locked.finished_at = State.RUNNING, "", None
    locked.save(update_fields=["games_to_make", "state", "state_reason", "finished_at"])
    note_withdrawn([version.pk for version in versions])
    tell_continued(locked)


def lock_in_state(tournament: Tournament, states: Sequence[Tournament.State], unless: str) -> Tournament:
    """The tournament's row, locked; raises ``TournamentError`` unless it is in one of these states."""
    _refuse_version_test(tournament)
    locked = lock_tournament(tournament.pk)
    if locked.state not in states:
        raise TournamentError(f"state: {locked.name!r} is {locked.state}, {unless}")
    return locked


def _refuse_version_test(tournament: Tournament) -> None:
    """Its course and its priority are fixed; ``services.version_tests`` stops it."""
    if tournament.format.is_sequential:
        raise TournamentError(f"kind: {tournament.name!r} is a version test, which can only be stopped")


def _make_games(tournament: Tournament) -> None:
    """Make the games that were not known before the start, or the seeds from which rounds are paired."""
    if tournament.entry_until is not None and not tournament.entry_closed:
        close_entries(tournament, timezone.now())
    check_openings(tournament)
    versions = entered_versions(tournament)
    check_players(tournament, versions)
    if tournament.format.is_staged:
        tournament.seeds = seed_players(tournament, players_of(versions, tournament.ladders))
    else:
        queue_cycles(tournament, tournament.pairs)


def _store(owner: User | None, terms: TournamentTerms) -> Tournament:
    Ladder.objects.ensure()
    tournament = Tournament.objects.create(
        slug=name_slug(terms.name) if not terms.format.is_listed else draft_slug(),
        owner=owner,
        off_terms=find_off_terms(terms),
        **columns_of(terms),
    )
    Entry.objects.bulk_create(entry_rows(tournament, terms.versions))
    return tournament


def columns_of(terms: TournamentTerms) -> dict[str, Any]:
    """The columns of ``Tournament`` that hold the terms."""
    same = [one.name for one in fields(terms) if one.name not in {"versions", "ladders", "book"}]
    values = {name: getattr(terms, name) for name in same}
    return {**values, "ladders": list(terms.ladders), "book": read_openings(terms)}


def entry_rows(
    tournament: Tournament, versions: Iterable[BotVersion], by_owner: Container[int] = ()
) -> Iterable[Entry]:
    """``by_owner`` are the ids of the bots that their owners entered."""
    return (
        Entry(tournament=tournament, version=version, number=number, by_owner=version.bot_id in by_owner)
        for number, version in enumerate(versions, start=1)
    )
