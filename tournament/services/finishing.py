"""The end of a tournament, and what a validation's end says of its version."""

from __future__ import annotations

from django.db.models import F
from django.utils import timezone

from engines.records import Fault
from tournament.models import BotVersion, Game, Tournament
from tournament.services.verdicts import accept, put_off, refuse
from workers.referee import BOTH_UNABLE


def count_finished(tournament_id: int, games: int = 1) -> None:
    """So many more of its games are done or halted; part of the transaction that made them so.

    The last one finishes the tournament, unless further rounds may follow (``services.rounds``) or pairs
    without end (``services.matchmaking``).
    """
    Tournament.objects.filter(pk=tournament_id).update(games_done=F("games_done") + games)
    tournament = Tournament.objects.get(pk=tournament_id)
    alive = tournament.state in {Tournament.State.RUNNING, Tournament.State.PAUSED}
    if (
        alive
        and tournament.games_done >= tournament.games_total
        and not (tournament.is_staged or tournament.is_endless)
    ):
        finish(tournament)


def finish(tournament: Tournament) -> None:
    """Nothing of it is left to be played."""
    halted = tournament.games.filter(state=Game.State.HALTED).exists()
    tournament.state = Tournament.State.HALTED if halted else Tournament.State.FINISHED
    tournament.finished_at = timezone.now()
    tournament.save(update_fields=["state", "finished_at"])
    if tournament.kind == Tournament.Kind.VALIDATION:
        _conclude(tournament)


def _conclude(validation: Tournament) -> None:
    """Let the version play, or refuse it with the first thing that went wrong."""
    games = list(validation.games.order_by("id"))
    complaint = next(filter(None, map(_complaint, games)), "")
    trouble = next(filter(None, map(_trouble, games)), "")
    for version in BotVersion.objects.filter(validation=validation).select_related("bot"):
        if complaint:
            refuse(version, complaint)
        elif trouble:
            put_off(version, trouble)
        else:
            accept(version)


def _complaint(game: Game) -> str:
    """What a validation game says against its version; empty if it went well.

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
    """Why a validation game could not be played, for no fault of the version's; empty if it was."""
    if game.state != Game.State.HALTED:
        return ""
    return f"the validation game of {game.ladder_id} could not be played: {game.evidence}"
