"""What bots say of positions when the site asks them: sampled moves, and the third voice of a live game."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils import timezone

from tournament.models import BotSearch, BotVersion, Game, LadderRating, SampledMoves
from tournament.models.similarity import HARD
from tournament.services.work.searches import LIVE

POSITIONS = 100


def store_samples(ladder: str, versions: Sequence[BotVersion]) -> None:
    """The first two choose the same in each position; all others agree with each version in half of them."""
    for number, version in enumerate(versions):
        LadderRating.objects.update_or_create(
            ladder_id=ladder, version=version, defaults={"mu": 25 + number, "sigma": 1, "conservative": 22}
        )
        moves = {f"{HARD} {at}": f"{at % 2 * max(1, number)}" for at in range(POSITIONS)}
        SampledMoves.objects.create(
            ladder_id=ladder, version=version, moves=moves, completed_at=timezone.now()
        )


def speak(game: Game, version: BotVersion) -> None:
    """Let the version have evaluated the last position of a live game without a given start."""
    moves = [token for token, _ in game.live.moves]
    ply, now = len(moves), timezone.now()
    BotSearch.objects.create(
        ladder_id=game.ladder_id,
        version=version,
        asker=f"{LIVE}{game.pk}",
        moves=" ".join(moves),
        plies=[ply],
        ms=1_000,
        found={str(ply): [moves[-1], "+0.70/9 1.000s"]},
        asked_at=now,
        ended_at=now,
    )
