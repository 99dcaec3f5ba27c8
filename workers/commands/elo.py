"""``python -m workers elo``: the Elo difference of two engines, from the counts of a match."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from engines.arithmetic.statistics import PRIOR, StatisticsError, estimate, parse_counts
from engines.console import run_command

COUNTS_HELP = "L,D,W of games, or LL,LD,DD,WD,WW of pairs (DD with WL)"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m workers elo",
        description="Print Elo and normalized Elo with their 95 % errors, and the likelihood of superiority. "
        f"A count of 0 is taken as {PRIOR:g}, as on fishtest.",
    )
    parser.add_argument("--counts", required=True, metavar="COUNTS", help=COUNTS_HELP)
    options = parser.parse_args(with_counts(arguments))
    return run_command(lambda: _print_estimate(options.counts), StatisticsError)


def with_counts(arguments: Sequence[str]) -> list[str]:
    """The arguments with ``--counts`` and its value joined, because a negative count looks like an option."""
    words = list(arguments)
    if "--counts" in words[:-1]:
        place = words.index("--counts")
        words[place : place + 2] = [f"--counts={words[place + 1]}"]
    return words


def _print_estimate(counts: str) -> int:
    found = estimate(parse_counts(counts))
    print(
        f"elo {found.elo:z.10f} {found.error:.10f} "
        f"nelo {found.nelo:z.10f} {found.nelo_error:.10f} los {found.los:.10f}"
    )
    return 0
