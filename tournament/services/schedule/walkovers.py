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
from tournament.models import Attempt, BotVersion, Game, Tournament, VersionTest
from tournament.services.locks import lock_tournament
from tournament.services.schedule.finishing import count_finished
from tournament.services.stopping import end_attempts

Kind, State = Tournament.Kind, Tournament.State
OPEN = [Game.State.WAITING, Game.State.CLAIMED]


def give_to_opponents(version: BotVersion, most: int) -> bool:
    """End up to ``most`` open games of a withdrawn version in each tournament; True if none is left.

    Those that are played are stopped, all at once. May be repeated.
    """
    left = list(_tournaments_of(version))
    for pk in left:
        _end_games(pk, version, most)
    return not left or not _tournaments_of(version)


def _tournaments_of(version: BotVersion) -> list[int]:
    """Those in which it has open games. A ladder's last games may be played after its tournament's end."""
    open_games = Game.objects.filter(_of(version), tournament=OuterRef("pk"), state__in=OPEN)
    alive = Tournament.objects.filter(Q(state__in=[State.RUNNING, State.PAUSED]) | Q(kind=Kind.LADDER))
    alive = alive.exclude(kind=Kind.VALIDATION).filter(Q(entries__version=version) | Q(kind=Kind.LADDER))
    return list(alive.filter(Exists(open_games)).order_by("pk").values_list("pk", flat=True).distinct())


@transaction.atomic
def _end_games(pk: int, version: BotVersion, most: int) -> None:
    tournament = lock_tournament(pk)
    if tournament.is_version_test:
        # The next beat looks at the test, and ends it.
        VersionTest.objects.filter(tournament=tournament).update(games_seen=None)
        return
    played = Attempt.objects.filter(_of(version, "game__"), game__tournament=tournament)
    end_attempts(played, Attempt.End.CANCELLED, timezone.now())
    waiting = tournament.games.filter(_of(version), state=Game.State.WAITING).order_by("id")
    games = list(waiting.values_list("pk", flat=True)[:most])
    if tournament.is_endless:
        tournament.games.filter(pk__in=games).update(state=Game.State.CANCELLED)
        Tournament.objects.filter(pk=pk).update(games_total=F("games_total") - len(games))
        return
    for side, fault in (("white", Fault.WHITE), ("black", Fault.BLACK)):
        lost = tournament.games.filter(pk__in=games, **{side: version})
        lost.update(state=Game.State.HALTED, fault=fault, evidence=f"{version} is withdrawn")
    if games:
        count_finished(pk, len(games))


def _of(version: BotVersion, path: str = "") -> Q:
    """A filter for the games of a version, at the end of ``path``."""
    return Q(**{f"{path}white": version}) | Q(**{f"{path}black": version})
