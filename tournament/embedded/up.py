"""``./arena up``: the site on this machine until Ctrl-C."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

from tournament.embedded.console import Console, Count, Meter
from tournament.embedded.instance import Instance, running_instance
from tournament.embedded.options import Options
from tournament.embedded.plan import ROOT
from tournament.sentences import as_sentence
from workers.sandbox.levels import Level, describe

LOOK_S = 1.0
"""The interval at which progress and processes are checked."""


def up(options: Options, console: Console) -> int:
    """Run the site; returns the exit code once everything has stopped."""
    with running_instance(options, console, prepare) as instance:
        console.say(f"Duarena is at {instance.address.url}   (Ctrl-C stops it)")
        console.say(f"Logs are in {options.data / 'logs'}; for an administrator: {options.admin_command}")
        console.say("\n".join(describe_uploads()))
        watch(instance, console, options.workers, [upload_news(), disk_news()])
        console.say(f"Stopping; games being played are played again by the next `{options.restart_command}`.")
    console.say("Everything has stopped.")
    return 0


def prepare() -> None:
    """Register the sample bots, start a first tournament on an empty site, and start waiting validations."""
    from django.conf import settings

    from tournament.embedded.samples import FIRST_EVENT, register_samples, start_event
    from tournament.models import Tournament
    from tournament.services.uploads.validation import validate_waiting
    from tournament.services.work.workers import presume_lost

    presume_lost()
    versions = register_samples()
    if not Tournament.objects.exists():
        start_event(FIRST_EVENT, versions)
    if not settings.TRUST_UPLOADS:
        try_out_walls(settings.CACHE)
    validate_waiting()


def try_out_walls(cache: Path) -> None:
    """Test the sandbox of this machine and store the result for the pages; workers run their own test.

    In a process of its own, because the test starts engines, and their watching processes must end with it.
    """
    command = (sys.executable, "-m", "workers", "sandbox", "--keep", str(cache))
    subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, check=False)


def describe_uploads() -> list[str]:
    """What happens to uploaded bots here, a line each, and the exact command that would change it."""
    from tournament.models import BotVersion
    from tournament.services.uploads import availability as uploads

    state = uploads.look()
    lines = [] if state.verdict is None else describe(state.verdict)
    waiting = BotVersion.objects.filter(state=BotVersion.State.WAITING).count()
    lines.append(state.sentence)
    if waiting:
        lines.append("1 uploaded version waits." if waiting == 1 else f"{waiting} uploaded versions wait.")
    if state.command:
        lines.append(f"{state.advice}: {state.command}")
    return lines


def count_games(workers: int) -> Count:
    """The games of all running tournaments together."""
    from django.db.models import Sum

    from tournament.models import Game, Tournament

    sums = Tournament.objects.running().aggregate(done=Sum("games_done"), total=Sum("games_total"))
    claimed = Game.objects.filter(state=Game.State.CLAIMED).count()
    return Count(sums["done"] or 0, sums["total"] or 0, min(claimed, workers))


def watch(
    instance: Instance,
    console: Console,
    workers: int,
    news: Sequence[ConsoleNews],
    *,
    is_done: Callable[[], bool] = lambda: False,
) -> None:
    """Tend the services and show news and progress until a signal to stop, or until ``is_done``."""
    meter = Meter()
    while not instance.supervisor.stopping and not is_done():
        instance.supervisor.tend()
        for line in chain.from_iterable(one.take() for one in news):
            console.say(line)
        console.progress(describe_progress(meter, workers))
        instance.supervisor.wait(LOOK_S)
    console.end_progress()


class ConsoleNews:
    """Lines to print when what ``look`` returns has changed; ``known`` is what it returned before."""

    def __init__(self, look: Callable[[], object], lines: Callable[[], list[str]], known: object) -> None:
        self._look, self._lines, self._known = look, lines, known

    def take(self) -> list[str]:
        """New lines to print; mostly none. None says that nothing is known."""
        now = self._look()
        if now is None or now == self._known:
            return []
        self._known = now
        return self._lines()


def disk_news() -> ConsoleNews:
    """Reports when the disk of the data folder becomes full or read-only, and when it can be used again."""
    from tournament.services.disk import full_disk

    def lines() -> list[str]:
        why = full_disk()
        return [as_sentence(why) if why else "The disk of the data folder can be used again."]

    return ConsoleNews(lambda: bool(full_disk()), lines, known=False)


def upload_news() -> ConsoleNews:
    """Reports when uploaded bots begin to be run, or to wait, while the site runs."""
    return ConsoleNews(_look_at_uploads, describe_uploads, _look_at_uploads())


def _look_at_uploads() -> tuple[bool, Level | None] | None:
    """Whether and at which level uploads are run; None while the database does not answer."""
    from django.db import OperationalError, connection

    from tournament.services.uploads import availability as uploads

    try:
        state = uploads.look()
    except OperationalError:
        connection.close()
        return None
    return state.are_run, state.level


def describe_progress(meter: Meter, workers: int) -> str:
    """The progress line; an unreachable database is reported there and does not end the site."""
    from django.db import OperationalError, connection

    try:
        count = count_games(workers)
    except OperationalError:
        connection.close()  # the next call makes a new one
        return "The database does not answer."
    return meter.line(count) if count.total else "No tournament is running."
