"""Compares the stored ratings of a ladder with the ``trueskill`` package, which defines them. Read-only.

The site rates games by a closed form; an error there would be in every rating and in every rebuild.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from engines.rules.base import Result
from tournament.arithmetic.ratings import Rating, ladder_scale, rate_by_definition
from tournament.models import BotVersion, Game, RatingEvent

SAMPLE = 1000
"""The most games of a ladder that are compared; the package needs about a millisecond for each."""
TOLERANCE = 1e-9
"""The largest difference in mu or sigma; rounding in the package alone gives up to 3.2e-11."""
CHUNK = 200


@dataclass(frozen=True, slots=True)
class RatingCheck:
    """The outcome for one ladder; ``difference`` describes the first game that differs."""

    ladder: str
    games: int
    """Number of rated games."""
    compared: int
    difference: str = ""

    @property
    def agrees(self) -> bool:
        return not self.difference

    def __str__(self) -> str:
        if self.difference:
            return f"{self.ladder}: the stored ratings differ from the trueskill package: {self.difference}"
        return (
            f"{self.ladder}: the stored ratings of {self.compared} of {self.games} rated games agree with "
            f"the trueskill package within {TOLERANCE:g}"
        )


def check_ratings(ladder: str, sample: int = SAMPLE) -> RatingCheck:
    """Recompute up to ``sample`` rated games, evenly spread over the ladder's completion sequence.

    Each game is rated from the stored ratings before it.
    """
    ids = list(Game.objects.by_completion(ladder).filter(rated=True).values_list("pk", flat=True))
    count = min(sample, len(ids))
    chosen = [ids[number * len(ids) // count] for number in range(count)]
    return RatingCheck(ladder, len(ids), count, next(_differences(ladder, chosen), ""))


def _differences(ladder: str, games: list[int]) -> Iterator[str]:
    for start in range(0, len(games), CHUNK):
        chunk = games[start : start + CHUNK]
        events: dict[int, dict[int, RatingEvent]] = defaultdict(dict)
        for event in RatingEvent.objects.filter(ladder_id=ladder, game__in=chunk):
            events[event.game_id][event.version_id] = event
        players = Game.objects.by_completion(ladder).select_related("white__bot", "black__bot")
        for game in players.filter(pk__in=chunk):
            yield from _differences_of(game, events[game.pk])


def _differences_of(game: Game, events: dict[int, RatingEvent]) -> Iterator[str]:
    if events.keys() != {game.white_id, game.black_id}:
        yield f"game {game.key!r} is rated, but does not have one rating event for each player"
        return
    white, black = events[game.white_id], events[game.black_id]
    before_white = Rating(white.mu_before, white.sigma_before)
    before_black = Rating(black.mu_before, black.sigma_before)
    result = Result(game.result or "*")
    try:
        expected = rate_by_definition(ladder_scale(game.ladder_id), before_white, before_black, result)
    except (ArithmeticError, LookupError, ValueError) as error:
        yield f"the package cannot rate game {game.key!r} from the stored ratings: {error}"
        return
    for version, event, right in zip((game.white, game.black), (white, black), expected, strict=True):
        stored = Rating(event.mu_after, event.sigma_after)
        if not max(abs(stored.mu - right.mu), abs(stored.sigma - right.sigma)) <= TOLERANCE:
            yield _sentence(game, version, stored, right)


def _sentence(game: Game, version: BotVersion, stored: Rating, right: Rating) -> str:
    return (
        f"after game {game.key!r} the rating of {version.bot.name} v{version.number} is "
        f"mu {stored.mu!r} sigma {stored.sigma!r}, not mu {right.mu!r} sigma {right.sigma!r}"
    )
