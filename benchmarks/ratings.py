"""Measures the ratings of a ladder with many games: the fold, the estimate, and a rebuild of the tables.

It makes a SQLite database in a temporary folder with generated games and rebuilds the ratings three times:
from empty tables, from right ones, and from tables in which every rating is wrong. Figures are seconds of
processor time.

    python -m benchmarks.ratings --games 200000
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Final

from benchmarks.measuring import describe_machine, head, opened_site, parser_of, row

LADDER: Final = "duploline"
BOTS: Final = 300


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of("ratings", __doc__)
    parser.add_argument("--games", type=int, default=200_000, help="generated (default %(default)s)")
    options = parser.parse_args(arguments)
    print(*describe_machine(), "", head("step", "games", "processor time, s"), sep="\n", flush=True)
    with opened_site():
        _measure(options.games)
    return 0


def _measure(games: int) -> None:
    from benchmarks.large_site import LargeSite
    from engines.arithmetic.ratings import Fold, RatedGame, ladder_scale
    from engines.rules.base import Result
    from tournament.models import Game, LadderRating, PairScore, RatingEvent
    from tournament.services.results.estimates import compute
    from tournament.services.results.rebuilding import rebuild

    site = LargeSite(games, bots=BOTS, ladders=[LADDER])
    site.make_bots()
    site.play_ladders(games)
    rows = Game.objects.order_by("sequence").values_list("white", "black", "result")
    played = [
        RatedGame((str(white), 1), (str(black), 1), Result(str(result))) for white, black, result in rows
    ]

    def fold() -> None:
        ladder = Fold(ladder_scale(LADDER))
        for game in played:
            ladder.add(game)

    _show("fold alone", games, fold)
    _show("rebuild into empty tables", games, lambda: rebuild(LADDER))
    _show("rebuild of right tables", games, lambda: rebuild(LADDER))
    RatingEvent.objects.update(mu_before=0.0)
    LadderRating.objects.update(mu=0.0)
    PairScore.objects.update(wins=0)
    _show("rebuild of wrong tables", games, lambda: rebuild(LADDER))
    _show(f"estimate of {BOTS} versions", games, lambda: compute(LADDER))


def _show(step: str, games: int, run: Callable[[], object]) -> None:
    begun = time.process_time()
    run()
    print(row(step, f"{games:,}", f"{time.process_time() - begun:.2f}"), flush=True)


if __name__ == "__main__":
    sys.exit(main())
