"""Measures how much a stranger delays another user's tournament on a site like that of ``./arena up``.

The tournament is played twice: alone, then while the stranger signs up, uploads ten slow bots, runs as many
monstrous tournaments as an account may, holds 300 slow connections and floods the forms. Both users share the
slots, so the second run takes twice as long at best; the target is 2.3 times. The engines run in the sandbox
that this machine provides; where there is none, uploads are not run.

    .venv/bin/python -m benchmarks.stranger
    .venv/bin/python -m benchmarks.stranger --games 20
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.machine import describe_machine
from benchmarks.slow_clients import PAGES, fetch_seconds
from benchmarks.stranger.stranger import Stranger
from benchmarks.stranger.visitor import Visitor
from engines.rules.registry import GAMES
from tournament.embedded.console import Console
from tournament.embedded.instance import Instance, running_instance
from tournament.embedded.options import Options

if TYPE_CHECKING:
    from tournament.models import Tournament

TARGET: Final = 2.3
SETTLE_S: Final = 20.0
"""The stranger is at work this long before the tournament begins."""
LOOK_S: Final = 1.0
PLAYERS: Final = ("Alphabeta", "Greedy")


@dataclass(slots=True)
class Run:
    """How long a tournament took, and pages meanwhile."""

    seconds: float
    pages: dict[str, list[float]] = field(default_factory=lambda: {page: [] for page in PAGES})

    def row(self, name: str) -> str:
        cells = [f"{statistics.median(taken):.3f} s | {max(taken):.3f} s" for taken in self.pages.values()]
        return f"| {name} | {self.seconds:.0f} s | {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    print(*describe_machine(), sep="\n")
    with tempfile.TemporaryDirectory(prefix="stranger-") as folder:
        site = Options("up", Path(folder) / "site", workers=options.slots)
        with running_instance(site, Console(sys.stderr), _prepare) as instance:
            alone, disturbed = _measure(instance, options)
    ratio = disturbed.seconds / alone.seconds
    heads = " | ".join(f"{page} median | longest" for page in PAGES)
    print(f"\n| {options.games} games, {options.slots} slots | took | {heads} |")
    print("| --- |" + " ---: |" * (1 + 2 * len(PAGES)))
    print(alone.row("alone"), disturbed.row("with the stranger"), sep="\n")
    print(f"\n{ratio:.2f} times as long; the target is {TARGET}")
    return int(ratio > TARGET)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stranger", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--games", type=int, default=200, help="of the tournament (%(default)s)")
    parser.add_argument("--slots", type=int, default=2, help="games at a time (%(default)s)")
    parser.add_argument("--ladder", choices=GAMES, default="duploline")
    parser.add_argument("--time-control", default="0.02/move", help="of the tournament (%(default)s)")
    return parser


def _prepare() -> None:
    """As ``./arena up``, but without a first tournament."""
    from django.conf import settings

    from tournament.embedded.samples import register_samples
    from tournament.embedded.up import try_out_walls

    register_samples()
    try_out_walls(settings.CACHE)


def _measure(instance: Instance, options: argparse.Namespace) -> tuple[Run, Run]:
    from tournament.models import BotVersion

    site = (instance.address.host, instance.address.port)
    bots = {version.bot.name: version.pk for version in BotVersion.objects.valid().select_related("bot")}
    ada = Visitor(site)
    ada.sign_up("ada")
    terms = {
        "bots": [bots[name] for name in PLAYERS], "ladders": [options.ladder], "opening_plies": 4,
        "pairs": options.games // 2, "time_control": options.time_control, "rated": "on",
    }  # fmt: skip
    alone = _play(instance, ada, {**terms, "name": "Alone", "seed": 1}, nullcontext(), 0)
    stranger = Stranger(site, list(bots.values()), list(GAMES))
    together = {**terms, "name": "Together", "seed": 2}
    disturbed = _play(instance, ada, together, stranger.at_work(), SETTLE_S)
    for what, count in sorted(stranger.did.items()):
        print(f"- {what}: {count:,}")
    return alone, disturbed


def _play(
    instance: Instance,
    ada: Visitor,
    fields: dict[str, object],
    company: AbstractContextManager[None],
    settle_s: float,
) -> Run:
    """Play a tournament in this company, which is there ``settle_s`` before."""
    from tournament.models import Tournament

    with company:
        begun = time.monotonic()
        while time.monotonic() < begun + settle_s:
            _look(instance)
        slug = ada.start_tournament(fields)  # type: ignore[arg-type]
        run, tournament = Run(0.0), Tournament.objects.get(slug=slug)
        while not tournament.is_over:
            _look(instance)
            for page, taken in run.pages.items():
                taken.append(fetch_seconds(instance.address.url + page))
            tournament.refresh_from_db()
    _check(tournament)
    assert tournament.started_at
    assert tournament.finished_at
    run.seconds = (tournament.finished_at - tournament.started_at).total_seconds()
    return run


def _look(instance: Instance) -> None:
    instance.supervisor.tend()
    instance.supervisor.wait(LOOK_S)
    if instance.supervisor.stopping:
        raise SystemExit("stopped before all games were played")


def _check(tournament: Tournament) -> None:
    """Check that every game was played to an end that says nothing of a disturbed machine."""
    played = tournament.games.filter(state="done").count()
    lost = tournament.games.exclude(fault="none").count()
    print(f"- {tournament.name}: {played} of {tournament.games_total} games played, {lost} forfeited")


if __name__ == "__main__":
    raise SystemExit(main())
