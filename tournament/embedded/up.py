"""``./arena up``: the site on this machine until Ctrl-C."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tournament.embedded.console import Console
from tournament.embedded.instance import Instance, running_instance
from tournament.embedded.options import Options
from tournament.embedded.plan import ROOT
from tournament.sentences import as_sentence
from workers.sandbox.levels import describe

LOOK_SECONDS = 0.5
"""The interval at which progress, processes and signals are checked."""


def up(options: Options, console: Console) -> int:
    """Run the site; returns the exit code once everything has stopped."""
    with running_instance(options, console, prepare) as instance:
        console.say(f"Duarena is at {instance.address.url}   (Ctrl-C stops it)")
        console.say(f"Logs are in {options.data / 'logs'}; for an administrator: {options.admin_command}")
        watch(instance, console, lambda: [*describe_uploads(), *describe_disk(), *describe_workers()])
        console.say(f"Stopping; games being played are played again by the next `{options.restart_command}`.")
    console.say("Everything has stopped.")
    return 0


def prepare() -> None:
    """Register the sample bots, start a first tournament on an empty site, and start waiting validations."""
    from django.conf import settings

    from tournament.embedded.samples import register_samples, start_event
    from tournament.models import Tournament
    from tournament.services.uploads.validation import validate_waiting
    from tournament.services.work.workers import presume_lost

    presume_lost()
    versions = register_samples()
    if not Tournament.objects.exists():
        # Takes some minutes, so that there is something to see.
        start_event("First round robin", versions, pairs=10, time_control="0.1/move")
    if not settings.TRUST_UPLOADS:
        probe_sandbox(settings.CACHE)
    validate_waiting()


def probe_sandbox(cache: Path) -> None:
    """Test the sandbox of this machine and store the result for the pages; workers run their own test.

    In a process of its own, because the test starts engines, and their watching processes must end with it.
    """
    command = (sys.executable, "-m", "workers", "sandbox", "--keep", str(cache))
    subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, check=False)


def describe_uploads() -> list[str]:
    """What happens to uploaded bots here, a line each, and the exact command that would change it."""
    from tournament.services.uploads import availability as uploads

    state = uploads.current_state()
    lines = [] if state.verdict is None else describe(state.verdict)
    lines.append(state.sentence)
    if state.command:
        lines.append(f"{state.advice}: {state.command}")
    return lines


def describe_disk() -> list[str]:
    """A sentence if the disk of the data folder is full; without numbers, which change."""
    from tournament.services.disk import full_disk

    return [as_sentence(why.partition(",")[0])] if (why := full_disk()) else []


def describe_workers() -> list[str]:
    """A sentence for each worker that is up and gets no work on all or some of its slots, with the reason."""
    from tournament.models import Worker

    lines = []
    for worker in Worker.objects.of_site().up():
        if worker.why:
            lines.append(f"{worker} is {worker.condition} and gets no work: {worker.why}")
        elif worker.held:
            slots = "no slot" if worker.condition == "held" else "not every slot"
            lines.append(f"{worker} plays on {slots}, its self-test fails: {worker.trouble or 'see its log'}")
    return [as_sentence(line) for line in lines]


def watch(
    instance: Instance,
    console: Console,
    notices: Callable[[], list[str]],
    *,
    is_done: Callable[[], bool] = lambda: False,
) -> None:
    """Tend the services and print progress and each new notice, until a signal to stop or until ``is_done``.

    An unreachable database is reported and does not end the site.
    """
    from django.db import OperationalError, connection

    known = list[str]()
    while not instance.supervisor.stopping:
        instance.supervisor.tend()
        try:
            now, progress = notices(), describe_progress()
            for line in (line for line in now if line not in known):
                console.say(line)
            known = now
            if is_done():
                break
        except OperationalError:
            connection.close()  # the next query makes a new one
            progress = "The database does not answer."
        console.progress(progress)
        time.sleep(LOOK_SECONDS)
    console.end_progress()


def describe_progress() -> str:
    """The games of all running tournaments together."""
    from django.db.models import Sum

    from tournament.models import Tournament

    sums = Tournament.objects.running().aggregate(done=Sum("games_done"), total=Sum("games_total"))
    return f"{sums['done']:,}/{sums['total']:,} games" if sums["total"] else "No tournament is running."
