"""Sampling for the similarity of versions: those that play on a ladder answer the same positions.

They are the ladder's hard positions, and some of its recorded games. A version is asked once, when its rating
is settled, by searches of the site that slots take while nothing else waits.
"""

from __future__ import annotations

import datetime
import hashlib
import random
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from engines.hard_positions import HARD_POSITIONS
from engines.protocol import RESIGN
from engines.records import read_moves
from engines.rules.base import Position
from engines.rules.registry import find_game
from tournament.models import ActiveVersion, BotSearch, BotVersion, Game, GameRecord, Ladder, LadderRating
from tournament.models import SampledMoves as Sampled
from tournament.models.searches import SITE
from tournament.models.similarity import HARD
from tournament.services.searches.similarity import playing_versions, tell_staff

MS = 100
"""The milliseconds for a position."""
AT_ONCE = 4
"""Versions that are asked at a time, each for one line."""
LEAST_GAMES = 100
"""Recorded games of a ladder before positions are drawn."""
LATEST = 5_000
"""The latest games, from which they are drawn."""
GAMES, PLIES = 20, 8
"""Games that are drawn, and positions of each."""
CANDIDATES = 8 * GAMES


def sample_moves(now: datetime.datetime) -> None:
    """Store what was answered, and ask for the next lines. May be killed and repeated."""
    begun = list(_unfinished()[:AT_ONCE])
    for sampled in begun:
        _go_on(sampled, now)
    if len(begun) < AT_ONCE:
        _begin_next()


def _unfinished() -> QuerySet[Sampled]:
    """Those of versions that play, in the order in which they were begun."""
    begun = Sampled.objects.filter(Exists(playing_versions()), completed_at=None)
    return begun.select_related("version").order_by("pk")


def _begin_next() -> None:
    """Begin with the next version whose rating is settled."""
    mine = {"ladder": OuterRef("ladder"), "version": OuterRef("version")}
    settled = Exists(LadderRating.objects.settled().filter(**mine))
    playing = ActiveVersion.objects.filter(enabled=True, version__state=BotVersion.State.VALID)
    waiting = playing.filter(settled, ~Exists(Sampled.objects.filter(**mine)))
    row = waiting.filter(ladder__sequence__gte=LEAST_GAMES).order_by("version").first()
    if row is not None:
        known = Sampled.objects.filter(ladder=row.ladder_id).order_by("pk").values_list("moves", flat=True)
        names = known.first() or draw_positions(row.ladder_id)
        Sampled.objects.create(ladder_id=row.ladder_id, version_id=row.version_id, moves=dict.fromkeys(names))


@transaction.atomic
def _go_on(sampled: Sampled, now: datetime.datetime) -> None:
    """Unless the version searches: store its answers, and ask for its next line."""
    asker = f"{SITE}sample {sampled.pk}"
    search = BotSearch.objects.filter(asker=asker).first()
    if search is not None:
        if search.ended_at is None:
            return
        sampled.moves |= _answers(search)
        search.delete()
    while (name := next((name for name, move in sampled.moves.items() if move is None), None)) is not None:
        line = _line(sampled.ladder_id, name, sampled.moves)
        if line is not None:
            asked = BotSearch(ladder_id=sampled.ladder_id, version=sampled.version, asker=asker, ms=MS)
            asked.content, asked.start, asked.moves, asked.plies = line
            asked.asked_at = now
            asked.save()
            break
        sampled.moves[name] = ""
    else:
        sampled.completed_at = now
    sampled.save()
    if sampled.completed_at is not None:
        tell_staff(sampled.ladder_id, now)


Line = tuple[str, str, str, list[int]]
"""Of a search: its content, start, moves and plies."""


def _line(ladder: str, name: str, moves: Mapping[str, str | None]) -> Line | None:
    """The line of a position, with the other positions of its game; None if it is no longer known."""
    group = name.partition(" ")[0]
    if group == HARD:
        start, tokens = _hard_positions(ladder).get(name, ("", None))
        return None if tokens is None else (name, start, " ".join(tokens), [len(tokens)])
    record = GameRecord.objects.filter(game=int(group)).values_list("text", flat=True).first()
    if record is None:
        return None
    begin, played = read_moves(record)
    start = "" if begin == type(begin).initial() else str(begin)
    plies = sorted(int(one.rpartition(" ")[2]) for one in moves if one.startswith(f"{group} "))
    return group, start, " ".join(list(played)[: plies[-1]]), plies


def _answers(search: BotSearch) -> Iterator[tuple[str, str]]:
    """What an ended search found, by the names of the positions; empty for what it did not evaluate."""
    for ply in search.plies:
        move, _ = search.found.get(str(ply), ("", ""))
        name = search.content if search.content.startswith(HARD) else f"{search.content} {ply}"
        yield name, "" if move == RESIGN else move


# Which positions


def draw_positions(ladder: str) -> list[str]:
    """The names of the positions for all versions of a ladder: hard ones, and some of its recorded games."""
    names = list(_hard_positions(ladder))
    for game in _draw_games(ladder):
        text = GameRecord.objects.values_list("text", flat=True).get(game=game)
        names += [f"{game.pk} {ply}" for ply in _plies(text, len(game.pairing.opening_moves))]
    return names


def _hard_positions(ladder: str) -> dict[str, tuple[str, list[str]]]:
    """Start and moves of the hard positions with more than one legal move, by name."""
    found = {}
    for text in HARD_POSITIONS.get(ladder, ()):
        start, _, moves = text.partition(" moves ")
        position: Position = find_game(ladder).position.parse(start)
        for token in moves.split():
            position = position.play(token)
        if _is_choice(position):
            found[f"{HARD} {hashlib.sha256(text.encode()).hexdigest()[:12]}"] = start, moves.split()
    return found


def _draw_games(ladder: str) -> list[Game]:
    """Recorded games of as many bots as possible."""
    last = Ladder.objects.values_list("sequence", flat=True).get(pk=ladder)
    numbers = range(max(1, last - LATEST), last + 1)
    chance = random.Random(zlib.crc32(ladder.encode()))
    drawn = chance.sample(numbers, min(CANDIDATES, len(numbers)))
    rows = Game.objects.filter(ladder=ladder, sequence__in=drawn, rated=True, record__isnull=False)
    left = list(rows.select_related("white", "black", "pairing"))
    chance.shuffle(left)
    games: list[Game] = []
    often = Counter[int]()
    while left and len(games) < GAMES:
        game = min(left, key=lambda one: often[one.white.bot_id] + often[one.black.bot_id])
        left.remove(game)
        often.update((game.white.bot_id, game.black.bot_id))
        games.append(game)
    return games


def _plies(record: str, opening: int) -> Sequence[int]:
    """Up to ``PLIES`` numbers of moves, evenly spaced, after which a player had a choice."""
    position, moves = read_moves(record)
    choices = []
    for ply, token in enumerate(moves):
        if ply > opening and _is_choice(position):
            choices.append(ply)
        position = position.play(token)
    return choices[:: max(1, len(choices) // PLIES)][:PLIES]


def _is_choice(position: Position) -> bool:
    return not position.outcome().decided and position.count_moves() > 1
