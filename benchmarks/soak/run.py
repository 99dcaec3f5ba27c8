"""One run: starts a site, causes faults until all games are played, and checks the site."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from django.db.models import Count

from benchmarks.soak.annulments import Annuller
from benchmarks.soak.harm import Harm, choose_harm
from benchmarks.soak.processes import SURVIVOR_S
from benchmarks.soak.site import Site, running_site
from benchmarks.soak.terms import Outcome, Terms
from benchmarks.soak.verdicts import digest_games, digest_tables, find_faults
from benchmarks.soak.watch import Watch

POLL_S: Final = 0.25
PRINT_S: Final = 30.0


def run_soak(terms: Terms) -> Outcome:
    """Run in a new process: Django cannot change its database."""
    begun = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="duarena-soak-") as name,
        running_site(terms, Path(name)) as site,
    ):
        harm, watch = choose_harm(terms, site), Watch(terms.lease_s, terms.games if terms.ladders else 0)
        annuller = Annuller()
        wrong = [*_play(terms, site, harm, watch, annuller), *_end(site, annuller)]
        wrong += [*find_faults(), *watch.find_faults(), *harm.find_faults()]
        counts = harm.counts + annuller.counts + (site.relay.counts if site.relay else Counter()) + _counts()
        digests = digest_games(), digest_tables()
        if wrong and terms.keep_logs:
            shutil.copytree(site.logs, terms.keep_logs, dirs_exist_ok=True)
    return Outcome(terms, time.monotonic() - begun, counts, watch.longest, tuple(wrong), *digests)


def _play(terms: Terms, site: Site, harm: Harm, watch: Watch, annuller: Annuller) -> Iterator[str]:
    """Continue until all games are played or the time is up."""
    begun = printed = time.monotonic()
    while not watch.look(may_end=harm.is_complete) or harm.is_under_way:
        site.restart_dead()
        yield from site.orphans.look(site.processes)
        harm.do_due(watch.done)
        annuller.do_due(watch.done)
        now = time.monotonic()
        if now - begun > terms.most_s:
            yield f"games were left after {terms.most_s:.0f} s"
            return
        if now - printed > PRINT_S:
            printed = now
            _print_progress(now - begun, watch)
        time.sleep(POLL_S)


def _print_progress(seconds: float, watch: Watch) -> None:
    longest = ", ".join(f"{what} {value:.0f} s" for what, value in watch.longest.items())
    print(f"{seconds:5.0f} s: {watch.done} games; longest: {longest}", file=sys.stderr, flush=True)


def _end(site: Site, annuller: Annuller) -> Iterator[str]:
    """Deliver the delayed reports and annul the last games, then stop all processes in order."""
    if site.relay:
        site.relay.release()
    annuller.finish()
    yield from site.drain()
    yield from site.stop()
    deadline = time.monotonic() + SURVIVOR_S
    while left := site.orphans.left():
        if time.monotonic() > deadline:
            yield from (f"still running after the stop: {line}" for line in left)
            return
        time.sleep(POLL_S)


def _counts() -> Counter[str]:
    """The site's own counts of games, attempts and ignored messages."""
    from tournament.models import Attempt, Game, Ignored

    ends = Attempt.objects.values_list("end").annotate(Count("id"))
    ignored = Ignored.objects.values_list("reason", "count")
    return Counter(
        {"games": Game.objects.done().count()}
        | {f"attempts {Attempt.End(end).label}": count for end, count in ends}
        | {f"messages ignored: {reason}": count for reason, count in ignored}
    )
