"""Estimates how long games and tournaments take: for their pages and forms, and to size batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from django.core.cache import cache
from django.db.models import F

from engines.records import Fault
from engines.rules.registry import GAMES
from engines.timecontrol import TimeControl, parse_time_control
from tournament.models import BotVersion, Game, Ladder, Tournament
from tournament.models.tournaments import GAMES_A_PAIR
from tournament.services.dispatch.slots import slots_expected
from tournament.services.schedule.terms import meetings, players_of

SECONDS_AROUND = 0.3
"""Time to start the engines and to record the game."""
CLOCK_USED = 0.7
"""The part of its clock that a bot uses, by experience."""
NODES_A_SECOND = 20_000
SECONDS_A_PLY_OF_DEPTH = 0.05
_REMEMBERED = 200
_LATEST = 50
"""Latest games of one tournament: few, so that a change of pace shows soon."""
_LATELY = 1_000
"""Latest games of a ladder, of all players and time controls, from which its versions' durations are read."""
_KNOWN_FOR_S = 2.0


def count_games(
    *,
    versions: Sequence[BotVersion],
    ladders: Sequence[str],
    pairs: int,
    kind: str = Tournament.Kind.ROUND_ROBIN,
    rounds: int = 0,
) -> dict[str, int]:
    """Games by ladder; for a knock-out, the fewest that decide it."""
    players = players_of(versions, ladders)
    return {
        code: meetings(kind, len(entered), rounds) * pairs * GAMES_A_PAIR for code, entered in players.items()
    }


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

    Tournaments of equal priority take turns, so the slots are divided by the number of running tournaments
    whose priority is at least as high.
    """
    events = Tournament.objects.running().exclude(
        kind__in=[Tournament.Kind.VALIDATION, Tournament.Kind.LADDER]
    )
    rivals = events.filter(priority__gte=tournament.priority, games_done__lt=F("games_total"))
    shares = 1 + rivals.exclude(pk=tournament.pk).count()
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
        cache.set(key, known, _KNOWN_FOR_S)
    return known


def _seconds_by_version(ladder: str, time_control: str) -> dict[int, float]:
    last = Ladder.objects.values_list("sequence", flat=True).get(pk=ladder)
    lately = Game.objects.filter(
        ladder_id=ladder,
        sequence__gt=last - _LATELY,
        tournament__time_control=time_control,
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
    durations = [max(0.0, (end - begin).total_seconds()) for begin, end in times if begin and end]
    if durations:
        return fmean(durations) + SECONDS_AROUND
    return guess_seconds(tournament.ladders, tournament.time_control)


def guess_seconds(ladders: Sequence[str], time_control: str) -> float:
    """Seconds of a game on any of these ladders, from the limits alone."""
    return guess_game_seconds(ladders, parse_time_control(time_control))


def guess_game_seconds(ladders: Sequence[str], control: TimeControl) -> float:
    """Like ``guess_seconds``."""
    return fmean(_guessed_seconds(code, control) for code in ladders)


def _known_seconds(code: str, time_control: str) -> float | None:
    """The mean duration of the latest games of this kind; None if there are none."""
    times = (
        Game.objects.done()
        .filter(ladder_id=code, tournament__time_control=time_control)
        .filter(started_at__isnull=False, finished_at__isnull=False)
        .order_by("-sequence")
        .values_list("started_at", "finished_at")[:_REMEMBERED]
    )
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
