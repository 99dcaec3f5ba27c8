"""Swiss tournaments and knock-outs: makes each round when the games of the one before are over.

A round is due while a running tournament has no game left to play. It depends on the results alone: it is
drawn first, and stored under the tournament's lock if nothing has changed since. So a step may be taken at
any time and by several processes. All ladders step together, so that the same results make the same rounds,
in the same order, with any number of workers.

A halted game is over: it counts half a point for both, so that the next round does not wait for it. A version
that is withdrawn is in no round drawn from then on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from django.db import transaction
from django.db.models import F, Max

from engines.formats.base import RoundTerms
from engines.formats.planning import LadderRounds, PlannedPairing, plan_rounds
from engines.pairing.meetings import GAMES_A_PAIR
from engines.pairing.results import MeetingResult
from tournament.formats import kinds
from tournament.models import BotVersion, LadderRating, Tournament
from tournament.services.locks import lock_tournament
from tournament.services.schedule.advancing import take_steps
from tournament.services.schedule.finishing import finish
from tournament.services.schedule.meetings import note_drawn, played_meetings, round_terms
from tournament.services.schedule.pairings import note_withdrawn, openings_of, players_in, store_pairings
from tournament.services.schedule.publishing import tell_rounds


def advance_all() -> int:
    """Take every step that is due; returns how many. A tournament that raises does not stop the others."""
    waiting = Tournament.objects.running().filter(
        kind__in=kinds(lambda one: one.is_staged), games_done=F("games_total")
    )
    return take_steps(waiting.order_by("id"), advance)


def advance(pk: int) -> bool:
    """Make the round that is due, or finish the tournament; False if neither is due (any more)."""
    tournament = Tournament.objects.get(pk=pk)
    if not _is_due(tournament):
        return False
    met = played_meetings(tournament)
    ladders = {
        code: LadderRounds(
            tournament.seeds[code], met.get(code, []), _terms_of(tournament, code, met.get(code, []))
        )
        for code in tournament.ladders
    }
    last = tournament.pairings.order_by().values_list("round").annotate(Max("number"))
    draw = partial(openings_of, tournament)
    planned = list(plan_rounds(tournament.format, tournament.seed, ladders, draw, dict(last)))
    tournament.absent = {
        code: {
            str(number): [tournament.seeds[code][seed - 1] for seed in sorted(gone)]
            for number, gone in absent.items()
        }
        for code in tournament.ladders
        if (absent := ladders[code].terms.absent)
    }
    return _store_round(tournament, finished_rounds(met, planned), planned)


def _terms_of(tournament: Tournament, code: str, met: Sequence[MeetingResult]) -> RoundTerms:
    """The terms of the next round of a ladder, without the versions that are withdrawn now."""
    ids, terms = tournament.seeds[code], round_terms(tournament, code)
    gone = BotVersion.objects.filter(pk__in=ids, state=BotVersion.State.WITHDRAWN).values_list(
        "pk", flat=True
    )
    withdrawn = {ids.index(pk) + 1 for pk in gone}
    return replace(terms, absent=tournament.format.absences(len(ids), met, terms, withdrawn))


def _is_due(tournament: Tournament) -> bool:
    waits = tournament.format.is_staged and tournament.games_done == tournament.games_total
    return waits and tournament.state == Tournament.State.RUNNING


@transaction.atomic
def _store_round(seen: Tournament, finished: Mapping[str, int], planned: Sequence[PlannedPairing]) -> bool:
    """Store the round that was drawn from the tournament as ``seen``; False if it has changed since."""
    tournament = lock_tournament(seen.pk)
    is_same = (tournament.games_total, tournament.rounds) == (seen.games_total, seen.rounds)
    if not _is_due(tournament) or not is_same:
        return False
    if tournament.absent != seen.absent:
        tournament.absent = seen.absent
        tournament.save(update_fields=["absent"])
    if planned:
        tell_rounds(tournament, finished)
        store_pairings(tournament, planned, GAMES_A_PAIR)
        note_drawn(tournament, ((one.ladder, one.round, one.first, one.second) for one in planned))
        note_withdrawn(players_in(planned))
    else:
        finish(tournament)
    return True


def finished_rounds(
    met: Mapping[str, Sequence[MeetingResult]], planned: Sequence[PlannedPairing]
) -> dict[str, int]:
    """By ladder, the last round met, if none of the planned pairings belongs to it or to an earlier one."""
    last = {code: max(one.round for one in meetings) for code, meetings in met.items() if meetings}
    rounds = {code: [pairing.round for pairing in planned if pairing.ladder == code] for code in last}
    return {code: last[code] for code, due in rounds.items() if due and min(due) > last[code]}


def seed_players(tournament: Tournament, players: Mapping[str, Sequence[BotVersion]]) -> dict[str, list[int]]:
    """Version ids by ladder, the best rated first, those without a rating last in the order of entry.

    A new version has the rating of its bot's latest version that has one.
    """
    return {code: _seeded(code, entered) for code, entered in players.items()}


def _seeded(ladder: str, entered: Sequence[BotVersion]) -> list[int]:
    bots = {version.bot_id for version in entered}
    rows = LadderRating.objects.filter(ladder_id=ladder, version__bot_id__in=bots)
    by_bot: dict[int, dict[int, float]] = {}
    for bot, number, rating in rows.values_list("version__bot_id", "version__number", "conservative"):
        by_bot.setdefault(bot, {})[number] = rating

    def rating_of(version: BotVersion) -> float:
        known = {n: r for n, r in by_bot.get(version.bot_id, {}).items() if n <= version.number}
        return known[max(known)] if known else float("-inf")

    return [version.pk for version in sorted(entered, key=rating_of, reverse=True)]
