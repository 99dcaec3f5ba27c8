"""Measures the strength of the sample bots: every pairing on every ladder, as a Markdown table.

Each pairing is a match of the project's own runner (``python -m workers match``): an SPRT
between its target share of the points (H1) and five hundredths less (H0), over at most a
hundred pairs of games. It prints a row with the result. The exit code is 1 if a target was
missed, or a game was forfeited or not played.

    python -m benchmarks.strength --pairing alphabeta-greedy --ladder duploline
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.measuring import head, parser_of, row
from engines.arithmetic.statistics import elo_of_score
from engines.rules.registry import GAMES

SHORT_OF_TARGET: Final = 0.05
"""The difference between the target share and the share of the null hypothesis."""
MAX_PAIRS: Final = 100
"""The most pairs of games; after them the share of the points decides."""
OPENING_PLIES: Final = 2
HEAD: Final = head(
    "pairing", "ladder", "won", "drawn", "lost", "points", "target", "SPRT", "forfeits", texts=2
)


@dataclass(frozen=True, slots=True)
class Contender:
    """A sample bot, and its time for a move as ``-engine`` takes it."""

    name: str
    module: str
    time_control: str = "0.1/move"

    def words(self) -> tuple[str, ...]:
        command = f"cmd=python3 -m engines.bots.{self.module}"
        return ("-engine", command, f"name={self.name}", f"tc={self.time_control}")


RANDOM: Final = Contender("Random", "random_bot")
GREEDY: Final = Contender("Greedy", "greedy_bot")
ALPHABETA: Final = Contender("Alphabeta", "alphabeta_bot")
HASTY: Final = Contender("Hasty Alphabeta", "alphabeta_bot", "0.025/move")
MCTS: Final = Contender("MCTS", "mcts_bot")


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two bots, and the share of the points that the stronger should score."""

    strong: Contender
    weak: Contender
    share: float
    elsewhere: Mapping[str, float] = field(default_factory=dict)
    """By ladder: targets that differ."""

    def target(self, ladder: str) -> float:
        return self.elsewhere.get(ladder, self.share)


IN_DUALMA: Final = {"dualma": 0.75}
"""The ply limit ends many games of DuAlma in a draw."""
PAIRINGS: Final = {
    "greedy-random": Pairing(GREEDY, RANDOM, 0.80),
    "alphabeta-greedy": Pairing(ALPHABETA, GREEDY, 0.90, IN_DUALMA),
    "mcts-greedy": Pairing(MCTS, GREEDY, 0.90, IN_DUALMA),
    "alphabeta-quarter": Pairing(ALPHABETA, HASTY, 0.60),
}
"""By the value of ``--pairing``."""


def main(arguments: Sequence[str]) -> int:
    parser = parser_of("strength", __doc__)
    parser.add_argument("--pairing", action="append", choices=PAIRINGS, help="instead of all; repeatable")
    parser.add_argument("--ladder", action="append", choices=GAMES, help="instead of all; may be repeated")
    parser.add_argument("--records", type=Path, default=Path("var/strength"), help="folder for the games")
    parser.add_argument("--resume", action="store_true", help="continue with the games in that folder")
    parser.add_argument("--pairs", type=int, default=MAX_PAIRS, help="of games at most (%(default)s)")
    asked = parser.parse_args(arguments)
    asked.records.mkdir(parents=True, exist_ok=True)
    print(HEAD, flush=True)
    all_met = True
    for name in asked.pairing or PAIRINGS:
        for ladder in asked.ladder or GAMES:
            words = match_words(PAIRINGS[name], ladder, asked.pairs)
            words += ["-concurrency", "2", "-records", f"{asked.records / name}-{ladder}.pgn"]
            is_met, line = read_events(play(words + ["-resume"] * asked.resume), PAIRINGS[name], ladder)
            print(line, flush=True)
            all_met = all_met and is_met
    return 0 if all_met else 1


def match_words(pairing: Pairing, ladder: str, pairs: int) -> list[str]:
    """The arguments of ``python -m workers match``; see docs/match.md."""
    target = pairing.target(ladder)
    least, most = elo_of_score(target - SHORT_OF_TARGET), elo_of_score(target)
    return [
        *(*pairing.strong.words(), *pairing.weak.words(), "-game", ladder, "-event", "Strength"),
        *("-sprt", f"elo0={least:.2f}", f"elo1={most:.2f}", "model=logistic", "-pairs", str(pairs)),
        *("-openings", f"random:{OPENING_PLIES}"),
    ]


def play(words: Sequence[str]) -> list[dict[str, Any]]:
    """Play a match; returns its events. Raises ``SystemExit`` if it stopped early and printed why."""
    command = [sys.executable, "-m", "workers", "match", "-json", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode > 1:
        raise SystemExit(done.returncode)
    return [json.loads(line) for line in done.stdout.splitlines()]


def read_events(events: Iterable[Mapping[str, Any]], pairing: Pairing, ladder: str) -> tuple[bool, str]:
    """Whether the target was met in a match of two engines without a forfeit, and its row of the table."""
    last = {event["event"]: event for event in events}
    rows, ended = last["table"]["rows"], last["ended"]
    strong = next(one for one in rows if one["name"] == pairing.strong.name)
    counts = [strong[name] for name in ("wins", "draws", "losses")]
    share = (counts[0] + counts[1] / 2) / max(1, sum(counts))
    forfeits, target = sum(one["forfeits"] for one in rows), pairing.target(ladder)
    is_whole = not (ended["halted"] or ended["left_out"])
    title = f"{pairing.strong.name} – {pairing.weak.name}"
    verdict = last["sprt"]["verdict"] or "undecided"
    line = row(title, ladder, *counts, f"{share:.1%}", f"{target:.0%}", verdict, forfeits)
    return is_whole and not forfeits and share >= target, line


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
