"""What staff does about halted games, which the site could not play.

Such a game needs staff as long as it has no fault. Then it waits to be played again, or its fault is that of
the infrastructure. Games that a withdrawn version lost without playing are halted too, but need nobody.
"""

from __future__ import annotations

from enum import StrEnum

from django.db import transaction
from django.db.models import F

from engines.records import Fault
from tournament.formats.base import TournamentError
from tournament.models import BotVersion, Game, GameLog, Tournament
from tournament.services.locks import lock_tournament
from tournament.services.schedule.finishing import end_state
from tournament.services.schedule.meetings import rescored
from tournament.services.schedule.pairings import note_withdrawn
from tournament.services.version_tests.progress import recount
from workers.jobs import Work

State = Tournament.State
ALIVE = (State.RUNNING, State.PAUSED)


class HaltedAct(StrEnum):
    """What becomes of a halted game."""

    PLAY_AGAIN = "play-again"
    """It waits again, also if its tournament has ended, which then continues."""
    ANNUL = "annul"
    """It counts in no table; a tournament of which no halted game counts has finished."""
    ACKNOWLEDGE = "acknowledge"
    """It stays half a point for both players."""


def is_open(game: Game) -> bool:
    """Whether these acts are possible: also after one of them, unless the game waits."""
    return game.state == Game.State.HALTED and game.fault not in {Fault.WHITE, Fault.BLACK}


@transaction.atomic
def settle(pk: int, act: HaltedAct) -> None:
    """Do it to a halted game; it may be repeated. Raises ``TournamentError`` if that is not possible."""
    tournament = lock_tournament(Game.objects.values_list("tournament", flat=True).get(pk=pk))
    game = Game.objects.with_players().get(pk=pk)
    if not is_open(game):
        raise TournamentError(f"game: {game.key} is not halted")
    with rescored(Game.objects.filter(pk=pk)):
        if act is HaltedAct.PLAY_AGAIN:
            _play_again(tournament, game)
        else:
            is_annulled = game.annulled or act is HaltedAct.ANNUL
            Game.objects.filter(pk=pk).update(fault=Fault.INFRASTRUCTURE, annulled=is_annulled)
            if tournament.state == State.HALTED:
                Tournament.objects.filter(pk=tournament.pk).update(state=end_state(tournament))
    Tournament.objects.filter(pk=tournament.pk).update(revision=F("revision") + 1)
    if tournament.format.is_sequential:
        recount(tournament.pk)


def _play_again(tournament: Tournament, game: Game) -> None:
    if why := _why_not(tournament, game):
        raise TournamentError(f"game: {game.key} is not played again: {why}")
    begun = {"fault": "", "evidence": "", "voids": 0, "lost": 0, "attempt": None, "annulled": False}
    Game.objects.filter(pk=game.pk).update(state=Game.State.WAITING, **begun)
    GameLog.objects.filter(game=game).delete()
    tournament.games_done -= 1
    if tournament.state not in ALIVE:
        tournament.state, tournament.finished_at = State.RUNNING, None
    tournament.save(update_fields=["games_done", "state", "finished_at"])
    note_withdrawn([game.white_id, game.black_id])


def _why_not(tournament: Tournament, game: Game) -> str:
    """Why a halted game cannot be played any more; empty if it can."""
    form = tournament.format
    if form.work is not Work.GAMES:
        return "the upload that it checked is checked anew"
    if tournament.state not in ALIVE and (form.is_endless or form.is_sequential):
        return f"its {form.label} has ended"
    if tournament.state == State.CANCELLED:
        return "its tournament is cancelled"
    for version in (game.white, game.black):
        if version.state != BotVersion.State.VALID:
            return f"{version} is {version.state}"
    later = tournament.pairings.filter(ladder=game.ladder_id, round__gt=game.pairing.round)
    if form.has_bracket and later.exists():
        return "a later round has been drawn from the bracket"
    return ""
