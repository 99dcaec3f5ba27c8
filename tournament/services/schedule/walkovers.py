"""The open games of a withdrawn version: its opponents get the points, and nothing is played.

In tournaments such a game is lost by the version without being played: halted, with a fault, unrated and
without a record. So opponents that have not met the version yet get what those before them got by its
forfeits. A ladder's game is cancelled; a version test ends without a verdict.
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from engines.records import Fault
from tournament.formats import kinds
from tournament.models import Attempt, BotVersion, Game, Tournament, VersionTest
from tournament.services.fair_share import of_work
from tournament.services.locks import lock_row, lock_tournament
from tournament.services.schedule.advancing import take_steps
from tournament.services.schedule.finishing import count_finished
from tournament.services.schedule.meetings import rescored
from tournament.services.stopping import end_attempts
from workers.jobs import Work

State = Tournament.State
OPEN = [Game.State.WAITING, Game.State.CLAIMED]


def end_games_of_withdrawn() -> None:
    """End the open games of all withdrawn versions: also of those that a killed process has left."""
    take_steps(BotVersion.objects.filter(has_games_to_end=True).order_by("pk"), give_to_opponents)


def give_to_opponents(pk: int) -> bool:
    """End the open games of a version if it is still withdrawn, in a transaction for each tournament.

    Those that are played are stopped. Repeated until none is left; True if it has none.
    """
    version = BotVersion.objects.select_related("bot").get(pk=pk)
    for tournament in _tournaments_of(version):
        _end_games(tournament, version)
    with transaction.atomic():
        version = lock_row(BotVersion.objects.all(), pk)  # of two at once, the maker of games is second
        is_over = version.state != BotVersion.State.WITHDRAWN or not _tournaments_of(version)
        BotVersion.objects.filter(pk=pk).update(has_games_to_end=not is_over)
    return is_over


def _tournaments_of(version: BotVersion) -> list[int]:
    """Those in which it has open games. A ladder's last games may be played after its tournament's end."""
    open_games = Game.objects.filter(_of(version), tournament=OuterRef("pk"), state__in=OPEN)
    endless = kinds(lambda one: one.is_endless)
    alive = Tournament.objects.filter(Q(state__in=[State.RUNNING, State.PAUSED]) | Q(kind__in=endless))
    alive = alive.filter(of_work(Work.GAMES)).filter(Q(entries__version=version) | Q(kind__in=endless))
    return list(alive.filter(Exists(open_games)).order_by("pk").values_list("pk", flat=True).distinct())


@transaction.atomic
def _end_games(pk: int, version: BotVersion) -> None:
    tournament = lock_tournament(pk)
    if not BotVersion.objects.filter(pk=version.pk, state=BotVersion.State.WITHDRAWN).exists():
        return
    if tournament.format.is_sequential:
        # The next beat looks at the test, and ends it.
        VersionTest.objects.filter(tournament=tournament).update(games_seen=None)
        return
    played = Attempt.objects.filter(_of(version, "game__"), game__tournament=tournament)
    end_attempts(played, Attempt.End.CANCELLED, timezone.now())
    waiting = tournament.games.filter(state=Game.State.WAITING)
    if tournament.format.is_endless:
        games = waiting.filter(_of(version)).update(state=Game.State.CANCELLED)
        Tournament.objects.filter(pk=pk).update(games_total=F("games_total") - games)
        return
    lost = {"state": Game.State.HALTED, "evidence": f"{version} is withdrawn"}
    with rescored(tournament.games.filter(_of(version))):
        games = waiting.filter(white=version).update(fault=Fault.WHITE, **lost)
        games += waiting.filter(black=version).update(fault=Fault.BLACK, **lost)
    if games:
        count_finished(pk, games)


def _of(version: BotVersion, path: str = "") -> Q:
    """A filter for the games of a version, at the end of ``path``."""
    return Q(**{f"{path}white": version}) | Q(**{f"{path}black": version})
