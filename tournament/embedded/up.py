"""``./arena up``: the site on this machine until Ctrl-C."""

from __future__ import annotations

from tournament.embedded.console import Console, Count, Meter
from tournament.embedded.instance import Instance, running_instance
from tournament.embedded.options import Options

LOOK_S = 1.0
"""How often progress and processes are looked at."""


def up(options: Options, console: Console) -> int:
    """Run the site; returns the exit code once everything has stopped."""
    with running_instance(options, console, prepare) as instance:
        console.say(f"Duarena is at {instance.address.url}   (Ctrl-C stops it)")
        console.say(f"Logs are in {options.data / 'logs'}; for an administrator: ./arena admin NAME")
        console.say(describe_uploads())
        _watch(instance, console, options.workers)
        console.end_progress()
        console.say("Stopping; games being played are played again by the next `./arena up`.")
    console.say("Everything has stopped.")
    return 0


def prepare() -> None:
    """Give a site its bots, a site without tournaments its first one, and validations their turn."""
    from tournament.embedded.samples import FIRST_EVENT, register_samples, start_event
    from tournament.models import Tournament
    from tournament.services.bots import validate_waiting

    versions = register_samples()
    if not Tournament.objects.exists():
        start_event(FIRST_EVENT, versions)
    validate_waiting()


def describe_uploads() -> str:
    """What happens to uploaded bots here, and the exact command that would change it."""
    from django.conf import settings

    from tournament.models import BotVersion
    from tournament.services.bots import TRUST_COMMAND

    if settings.TRUST_UPLOADS:
        return "Uploaded bots are run without a sandbox, with your rights: keep this site to yourself."
    waiting = BotVersion.objects.filter(state=BotVersion.State.WAITING).count()
    who = f"Uploaded bots wait ({waiting} now)" if waiting else "Uploaded bots wait"
    return f"{who}: there is no sandbox yet. To run uploads on a site for yourself alone: {TRUST_COMMAND}"


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
