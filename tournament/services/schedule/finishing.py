"""The end of a tournament, and the verdict on a version at the end of its validation."""

from __future__ import annotations

import datetime

from django.db.models import F
from django.utils import timezone

from engines.records import Fault
from tournament.models import Attempt, BotVersion, Game, Tournament
from tournament.services.bots.verdicts import VERDICTS
from tournament.services.schedule.own_ratings import store_ratings
from tournament.services.schedule.publishing import tell_ended
from tournament.services.stopping import end_attempts


def count_finished(tournament_id: int, games: int = 1) -> None:
    """Count games that are done or halted; part of the transaction that changed their state, and before that
    their ``MeetingScore``.

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


def end_state(tournament: Tournament) -> Tournament.State:
    """Whether a tournament that has nothing left to play is halted or finished.

    Games that a withdrawn version lost without playing do not halt it: they count for its opponents. Neither
    do games that staff has annulled.
    """
    unplayed = tournament.games.filter(state=Game.State.HALTED, annulled=False)
    halted = unplayed.exclude(fault__in=[Fault.WHITE, Fault.BLACK]).exists()
    return Tournament.State.HALTED if halted else Tournament.State.FINISHED


def finish(tournament: Tournament) -> None:
    """End a tournament that has nothing left to play, with all that follows."""
    tournament.state = end_state(tournament)
    tournament.finished_at = timezone.now()
    tournament.save(update_fields=["state", "finished_at"])
    if verdict := tournament.format.verdict(tournament):
        for version in BotVersion.objects.filter(validation=tournament).select_related("bot__owner"):
            VERDICTS[verdict.state](version, verdict.reason)
    if tournament.format.has_places:
        store_ratings(tournament)
    tell_ended(tournament)
