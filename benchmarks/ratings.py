"""Measures the ratings of a ladder with many games: the fold, the estimate, and a rebuild of the tables.

It makes a SQLite database in a temporary folder with generated games (no records, no logs) and rebuilds it
three times: from empty tables, from right ones, and from tables in which every rating is wrong. Figures are
seconds of processor time, and seconds for which a rebuild holds the database's write lock.

    python -m benchmarks.ratings --games 200000
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from benchmarks.machine import describe_machine
from benchmarks.output import head, parser_of, row
from benchmarks.sites import opened_site
from engines.rules.base import Result

LADDER: Final = "duploline"
MILLION: Final = 1_000_000
VERSIONS: Final = 300
_RESULTS: Final = (Result.WHITE_WINS, Result.DRAW, Result.BLACK_WINS)
_WEIGHTS: Final = (45, 15, 40)


def main(arguments: Sequence[str]) -> int:
    parser = parser_of("ratings", __doc__)
    parser.add_argument("--games", type=int, default=200_000, help="generated (default %(default)s)")
    options = parser.parse_args(arguments)
    columns = ("step", "games", "processor time, s", "a million games, s", "write lock, s")
    print(*describe_machine(), "", head(*columns), sep="\n", flush=True)
    with opened_site():
        _measure(options.games, VERSIONS)
    return 0


def _measure(games: int, versions: int) -> None:
    from tournament.models import LadderRating, PairScore, RatingEvent
    from tournament.services.results.estimates import compute
    from tournament.services.results.rebuilding import rebuild

    make_games(games, versions)
    drawn = list(_draws(games, versions))
    _show("fold alone", games, lambda: _fold(drawn, versions))
    _show("rebuild into empty tables", games, lambda: rebuild(LADDER))
    _show("rebuild of right tables", games, lambda: rebuild(LADDER))
    RatingEvent.objects.update(mu_before=0.0)
    LadderRating.objects.update(mu=0.0)
    PairScore.objects.update(wins=0)
    _show("rebuild of wrong tables", games, lambda: rebuild(LADDER))
    _show(f"estimate of {versions} versions", games, lambda: compute(LADDER))


def _show(step: str, games: int, run: Callable[[], object]) -> None:
    with _lock_time() as held:
        begun = time.process_time()
        run()
        spent = time.process_time() - begun
    cells = (step, f"{games:,}", f"{spent:.2f}", f"{spent * MILLION / games:.1f}", f"{sum(held):.2f}")
    print(row(*cells), flush=True)


@contextmanager
def _lock_time() -> Iterator[list[float]]:
    """Measure how long transactions last, each from its first statement on."""
    from django.db import connection

    held: list[float] = []
    begun = [0.0]

    def watch(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        # BEGIN and COMMIT do not come here: the first and the last statement between them do.
        answer = execute(sql, params, many, context)
        if connection.in_atomic_block:
            begun[0] = begun[0] or time.monotonic()
            held[:] = [time.monotonic() - begun[0]]
        return answer

    with connection.execute_wrapper(watch):
        yield held


def _draws(games: int, versions: int) -> Iterator[tuple[int, int, Result]]:
    """Games by places of versions; every two are a pair with both colours."""
    source = random.Random(1)
    for number in range(games):
        if number % 2 == 0:
            white, black = source.sample(range(versions), 2)
        else:
            white, black = black, white
        yield white, black, source.choices(_RESULTS, _WEIGHTS)[0]


def _fold(games: Sequence[tuple[int, int, Result]], versions: int) -> None:
    from tournament.arithmetic.ratings import Fold, RatedGame, ladder_scale

    fold = Fold(ladder_scale(LADDER))
    players = [(f"Bot {number // 3}", number % 3 + 1) for number in range(versions)]
    for white, black, result in games:
        fold.add(RatedGame(players[white], players[black], result))


def make_games(games: int, versions: int) -> None:
    """Recorded and rated games of a tournament, whose ratings are not computed yet."""
    from django.utils import timezone

    from tests.support.schedule import make_version
    from tournament.models import Game, Ladder, Pairing, Tournament
    from tournament.services.bulk import insert_rows

    Ladder.objects.ensure()
    players = [make_version(f"Bot {number // 3}", games=[LADDER]).pk for number in range(versions)]
    event = Tournament.objects.create(
        slug="t", name="T", ladders=[LADDER], time_control="1+1", state="finished"
    )
    now = timezone.now()
    drawn = [(players[white], players[black], result) for white, black, result in _draws(games, versions)]
    insert_rows(
        Pairing,
        (
            {
                "id": number // 2 + 1, "tournament_id": event.pk, "ladder_id": LADDER, "round": 1,
                "number": number // 2 + 1, "first_id": white, "second_id": black,
            }
            for number, (white, black, _) in enumerate(drawn)
            if number % 2 == 0
        ),
    )  # fmt: skip
    insert_rows(
        Game,
        (
            {
                "key": f"t/1/{number // 2 + 1}/{number % 2 + 1}", "pairing_id": number // 2 + 1,
                "tournament_id": event.pk, "ladder_id": LADDER, "number": number % 2 + 1, "white_id": white,
                "black_id": black, "state": "done", "result": str(result),
                "sequence": number + 1, "rated": True, "fingerprint": f"{number:032}", "finished_at": now,
            }
            for number, (white, black, result) in enumerate(drawn)
        ),
    )  # fmt: skip
    Ladder.objects.filter(pk=LADDER).update(sequence=games)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
