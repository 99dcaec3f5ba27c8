"""``python -m workers sprt``: the log-likelihood ratio of two hypotheses, from the counts of a match."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from engines.arithmetic.statistics import Model, StatisticsError, llr, parse_counts
from engines.console import run_command
from workers.commands.elo import COUNTS_HELP, with_counts


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(with_counts(arguments))
    return run_command(lambda: _print_ratio(options), StatisticsError)


def _print_ratio(options: argparse.Namespace) -> int:
    ratio = llr(parse_counts(options.counts), options.elo0, options.elo1, Model(options.model))
    print(f"llr {ratio:z.10f}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 -m workers sprt",
        description="Print the generalized log-likelihood ratio of ELO1 against ELO0. "
        "With error probabilities of 5 % a test ends at -2.9444 and 2.9444.",
    )
    parser.add_argument(
        "--model", required=True, choices=[str(model) for model in Model], help="the Elo scale"
    )
    parser.add_argument("--elo0", required=True, type=float, metavar="ELO0", help="the null hypothesis")
    parser.add_argument(
        "--elo1", required=True, type=float, metavar="ELO1", help="the alternative hypothesis"
    )
    parser.add_argument("--counts", required=True, metavar="COUNTS", help=COUNTS_HELP)
    return parser
