"""``./arena up``: the site on this machine until Ctrl-C."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tournament.embedded.console import Console, Count, Meter
from tournament.embedded.instance import Instance, running_instance
from tournament.embedded.options import Options
from tournament.embedded.plan import ROOT
from workers.sandbox.levels import describe

LOOK_S = 1.0
"""How often progress and processes are looked at."""


def up(options: Options, console: Console) -> int:
    """Run the site; returns the exit code once everything has stopped."""
    with running_instance(options, console, prepare) as instance:
        console.say(f"Duarena is at {instance.address.url}   (Ctrl-C stops it)")
        console.say(f"Logs are in {options.data / 'logs'}; for an administrator: ./arena admin NAME")
        for line in describe_uploads():
            console.say(line)
        _watch(instance, console, options.workers)
        console.end_progress()
        console.say("Stopping; games being played are played again by the next `./arena up`.")
    console.say("Everything has stopped.")
    return 0


def prepare() -> None:
    """Give a site its bots, a site without tournaments its first one, and validations their turn."""
    from django.conf import settings

    from tournament.embedded.samples import FIRST_EVENT, register_samples, start_event
    from tournament.models import Tournament
    from tournament.services.bots import validate_waiting

    versions = register_samples()
    if not Tournament.objects.exists():
        start_event(FIRST_EVENT, versions)
    if not settings.TRUST_UPLOADS:
        try_out_walls(settings.CACHE)
    validate_waiting()


def try_out_walls(cache: Path) -> None:
    """Find out which sandbox this machine gives, and keep it for the pages; workers do so for themselves.

    In a process of its own: that starts engines, and what watches over them is to end with it.
    """
    command = (sys.executable, "-m", "workers", "sandbox", "--keep", str(cache))
    subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, check=False)


def describe_uploads() -> list[str]:
    """What happens to uploaded bots here, a line each, and the exact command that would change it."""
    from tournament import uploads
    from tournament.models import BotVersion

    stand = uploads.look()
    lines = [] if stand.verdict is None else describe(stand.verdict)
    waiting = BotVersion.objects.filter(state=BotVersion.State.WAITING).count()
    lines.append(f"Uploaded bots{f' ({waiting} now)' if waiting else ''} {stand.why}.")
    if stand.command:
        lines.append(f"To let them play: {stand.command}")
    return lines


def count_games(workers: int) -> Count:
    """The running tournaments together."""
    from django.db.models import Sum

    from tournament.models import Game, Tournament

    sums = Tournament.objects.running().aggregate(done=Sum("games_done"), total=Sum("games_total"))
    claimed = Game.objects.filter(state=Game.State.CLAIMED).count()
    return Count(sums["done"] or 0, sums["total"] or 0, min(claimed, workers))


def _watch(instance: Instance, console: Console, workers: int) -> None:
    meter = Meter()
    while not instance.supervisor.stopping:
        instance.supervisor.tend()
        console.progress(describe_progress(meter, workers))
        instance.supervisor.wait(LOOK_S)


def describe_progress(meter: Meter, workers: int) -> str:
    """The progress line; a database that is away for a while, as a server may be, does not end the site."""
    from django.db import OperationalError, connection

    try:
        count = count_games(workers)
    except OperationalError:
        connection.close()  # the next look makes a new one
        return "The database does not answer."
    return meter.line(count) if count.total else "No tournament is running."
