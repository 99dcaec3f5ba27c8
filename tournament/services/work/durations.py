"""How many games are played at once, and how long games and tournaments take: for pages and for batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache as remember
from statistics import fmean

from django.conf import settings
from django.db.models import F

from engines.pairing.meetings import GAMES_A_PAIR
from engines.records import Fault
from engines.rules.registry import GAMES
from engines.timecontrol import TimeControl, parse_time_control
from tournament.caches import cache
from tournament.formats import kinds
from tournament.models import Game, Job, Ladder, Tournament, Worker
from tournament.services.fair_share import played_by
from workers.jobs import Work

SECONDS_AROUND = 0.3
"""Time to start the engines and to record the game."""
CLOCK_USED = 0.7
"""The part of its clock that a bot uses, by experience."""
NODES_A_SECOND = 20_000
SECONDS_A_PLY_OF_DEPTH = 0.05
BATCH_SECONDS = 2.0
"""Target duration of a batch: many games of milliseconds for one request, and one pair of longer ones, so
that other slots can play the rest.
"""
MAX_PAIRS = 64
_REMEMBERED = 200
_LATEST = 50
"""Latest games of one tournament: few, so that a change of pace shows soon."""
_LATELY = 1_000
"""Latest games of a ladder, of all players and time controls: the source of its versions' durations."""
_KNOWN_FOR_SECONDS = 2.0


def slots_by_worker(work: Work) -> dict[str, int]:
    """The slots that can play, of each worker that gets this kind of work."""
    workers = Worker.objects.given_jobs().taking(work).values_list("name", "slots", "held")
    return {name: slots - held for name, slots, held in workers if slots > held}


def slots_at_work(work: Work = Work.GAMES) -> int:
    """Slots of all workers of a kind, from their latest heartbeats."""
    return sum(slots_by_worker(work).values())


def slots_expected() -> int:
    """Slots for games; if no worker runs, the configured number, for estimates of what is to come."""
    return slots_at_work() or settings.SLOTS


def free_slots(work: Work) -> int:
    """Slots that have no job."""
    names = slots_by_worker(work)
    busy = Job.objects.held().filter(worker__in=names).values("worker", "slot").distinct().count()
    return max(0, sum(names.values()) - busy)


def estimate_seconds(games: Mapping[str, int], time_control: str) -> float:
    """Seconds that these games (a number by ladder) take with all the site's slots free; 0 without games.

    One slot plays the two games of a pair, so any tournament takes at least the time of a pair.
    Uses the durations of recent games of the same ladder and time control, or else a guess from the
    limits. Raises ``TimeControlError``.
    """
    control = parse_time_control(time_control)
    total = longest = 0.0
    for code, count in games.items():
        if count:
            known = _known_seconds(code, time_control)
            a_game = _guessed_seconds(code, control) if known is None else known
            total += count * a_game
            longest = max(longest, a_game)
    return max(total / slots_expected(), GAMES_A_PAIR * longest)


def remaining_seconds(tournament: Tournament, games: int, slots: int) -> float:
    """Seconds until a running tournament has played this many more games on a site with these slots.

    The owners of tournaments whose priority is at least as high share the slots, and each owner's
    tournaments share his.
    """
    events = Tournament.objects.running().filter(played_by(Work.GAMES))
    events = events.exclude(kind__in=kinds(lambda one: one.is_endless))
    rivals = events.filter(priority__gte=tournament.priority, games_done__lt=F("games_total"))
    owners: list[int | None] = list(rivals.exclude(pk=tournament.pk).values_list("owner", flat=True))
    shares = len({tournament.owner_id, *owners}) * (1 + owners.count(tournament.owner_id))
    pace = seconds_a_game(tournament)
    return max(games * pace * shares / slots, min(games, GAMES_A_PAIR) * pace)


def seconds_by_version(ladder: str, time_control: str) -> dict[int, float]:
    """Mean seconds of each version's recent games there; versions without recent games are missing.

    Cached for a short time, because it is called often.
    """
    key = f"seconds-{ladder}-{time_control}".replace(" ", "")
    known: dict[int, float] | None = cache.get(key)
    if known is None:
        known = _seconds_by_version(ladder, time_control)
        cache.set(key, known, _KNOWN_FOR_SECONDS)
    return known


def _seconds_by_version(ladder: str, time_control: str) -> dict[int, float]:
    last = Ladder.objects.values_list("sequence", flat=True).get(pk=ladder)
    lately = Game.objects.filter(
        ladder_id=ladder,
        sequence__gt=last - _LATELY,
        tournament__time_control=time_control,
        tournament__own_workers=False,
        fault=Fault.NONE,
        started_at__isnull=False,
        finished_at__isnull=False,
    )
    durations: dict[int, list[float]] = {}
    for white, black, begin, end in lately.values_list("white_id", "black_id", "started_at", "finished_at"):
        if begin and end:
            seconds = max(0.0, (end - begin).total_seconds())
            for player in {white, black}:
                durations.setdefault(player, []).append(seconds)
    return {player: fmean(taken) for player, taken in durations.items()}


def seconds_a_game(tournament: Tournament) -> float:
    """Mean seconds of its latest games; before there are any, a guess from the limits."""
    done = tournament.games.done().filter(started_at__isnull=False, finished_at__isnull=False)
    times = done.order_by("-id").values_list("started_at", "finished_at")[:_LATEST]
    known = _mean_seconds(times)
    if known is not None:
        return known
    control = parse_time_control(tournament.time_control)
    return fmean(_guessed_seconds(code, control) for code in tournament.ladders)


def _known_seconds(code: str, time_control: str) -> float | None:
    """The mean duration of the latest games of this kind; None if there are none."""
    times = (
        Game.objects.done()
        .filter(ladder_id=code, tournament__time_control=time_control, tournament__own_workers=False)
        .filter(started_at__isnull=False, finished_at__isnull=False)
        .order_by("-sequence")
        .values_list("started_at", "finished_at")[:_REMEMBERED]
    )
    return _mean_seconds(times)


def _mean_seconds(times: Iterable[tuple[datetime | None, datetime | None]]) -> float | None:
    """The mean duration of games by their begin and end; None if there are none."""
    durations = [max(0.0, (end - begin).total_seconds()) for begin, end in times if begin and end]
    return fmean(durations) + SECONDS_AROUND if durations else None


def _guessed_seconds(code: str, control: TimeControl) -> float:
    """The shortest time that a limit allows for an ordinary game; an unknown ladder counts as the longest."""
    plies = max(game.typical_plies for game in GAMES.values() if game.code == code or code not in GAMES)
    guesses = []
    if control.base_ms is not None:
        guesses.append((2 * control.base_ms * CLOCK_USED + plies * control.increment_ms) / 1000)
    if control.move_ms is not None:
        guesses.append(plies * control.move_ms / 1000)
    if control.nodes is not None:
        guesses.append(plies * control.nodes / NODES_A_SECOND)
    if control.depth is not None:
        guesses.append(plies * control.depth * SECONDS_A_PLY_OF_DEPTH)
    return min(guesses) + SECONDS_AROUND


# Pairs that wait


@dataclass(frozen=True, slots=True)
class WaitingPair:
    """A pairing with its ladder and both players, the lower id first."""

    pairing: int
    ladder: str
    players: tuple[int, int]


def measured_seconds(time_control: str) -> Callable[[WaitingPair], float | None]:
    """The seconds of a game of a pairing, by its players' recent games; None if one of them has none."""
    known = remember(lambda ladder: seconds_by_version(ladder, time_control))

    def measured(pair: WaitingPair) -> float | None:
        durations = [known(pair.ladder).get(player) for player in pair.players]
        return None if None in durations else max(filter(None, durations), default=0.0)

    return measured
