"""The end of a tournament, and the verdict on a version at the end of its validation."""

from __future__ import annotations

import datetime

from django.db.models import F
from django.utils import timezone

from engines.records import Fault
from tournament.models import Attempt, BotVersion, Game, Tournament
from tournament.services.bots.verdicts import accept, put_off, refuse
from tournament.services.schedule.publishing import tell_ended
from tournament.services.schedule.stored_tables import store_tables
from tournament.services.stopping import end_attempts
from workers.jobs import BOTH_UNABLE, Work


def count_finished(tournament_id: int, games: int = 1) -> None:
    """Count games that are done or halted; part of the transaction that changed their state.

    The last one finishes the tournament, unless further rounds may follow (``services.schedule.rounds``), it
    is a version test, which has a verdict (``services.version_tests``), or a ladder's, which has no end
    (``services.ladders.matchmaking``).
    """
    Tournament.objects.filter(pk=tournament_id).update(games_done=F("games_done") + games)
    tournament = Tournament.objects.get(pk=tournament_id)
    alive = tournament.state in {Tournament.State.RUNNING, Tournament.State.PAUSED}
    if alive and tournament.games_done >= tournament.games_total and tournament.format.ends_with_its_games:
        finish(tournament)


def cancel_open_games(tournament: Tournament, now: datetime.datetime) -> int:
    """Cancel the games that wait, stop and cancel those that are played, make no more; returns how many.

    Part of the caller's transaction, which has locked the tournament or changed its state.
    """
    end_attempts(Attempt.objects.filter(game__tournament=tournament), Attempt.End.CANCELLED, now)
    Tournament.objects.filter(pk=tournament.pk).update(games_to_make=0)
    waiting = Game.objects.filter(tournament=tournament, state=Game.State.WAITING)
    return waiting.update(state=Game.State.CANCELLED)


def finish(tournament: Tournament) -> None:
    """Finish a tournament that has nothing left to play.

    Games that a withdrawn version lost without playing do not halt it: they count for its opponents.
    """
    halted = tournament.games.filter(state=Game.State.HALTED, fault="").exists()
    tournament.state = Tournament.State.HALTED if halted else Tournament.State.FINISHED
    tournament.finished_at = timezone.now()
    tournament.save(update_fields=["state", "finished_at"])
    if tournament.format.work is Work.CHECKS:
        _conclude(tournament)
    elif tournament.format.has_places:
        store_tables(tournament)
    tell_ended(tournament)


def _conclude(validation: Tournament) -> None:
    """Accept the version, refuse it with the first fault, or put it off if a game could not be played."""
    games = list(validation.games.order_by("id"))
    complaint = next(filter(None, map(_complaint, games)), "")
    trouble = next(filter(None, map(_trouble, games)), "")
    for version in BotVersion.objects.filter(validation=validation).select_related("bot__owner"):
        if complaint:
            refuse(version, complaint)
        elif trouble:
            put_off(version, trouble)
        else:
            accept(version)


def _complaint(game: Game) -> str:
    """The fault that a validation game shows in its version; empty if it went well.

    Losing by the rules, repetition and the ply limit are no faults: the version played itself.
    """
    where = f"the validation game of {game.ladder_id}"
    if game.state == Game.State.HALTED and game.evidence.startswith(BOTH_UNABLE):
        return f"{where} could not be played: {game.evidence}"
    if game.fault in {Fault.WHITE, Fault.BLACK}:
        evidence = f": {game.evidence}" if game.evidence else ""
        return f"{where} ended in {game.termination} at ply {game.plies}{evidence}"
    return ""


def _trouble(game: Game) -> str:
    """Why a validation game could not be played; empty if it was."""
    if game.state != Game.State.HALTED:
        return ""
    return f"the validation game of {game.ladder_id} could not be played: {game.evidence}"
