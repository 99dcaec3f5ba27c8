"""One run: starts a site, causes faults until all games are played, and checks the site."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.soak.event import LADDER_SETTINGS, start_event
from benchmarks.soak.faults import Faults
from benchmarks.soak.site import Site, Terms, running_site, start_services
from benchmarks.soak.watch import Annuller, Watch
from tests.support.verdicts import digest_games, digest_tables, find_faults
from workers.sandbox.tree import descendants

PR_SET_PDEATHSIG: Final = 1
"""``<linux/prctl.h>``: a run dies with the benchmark, and then its guards end the site."""
POLL_S: Final = 0.25
PRINT_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run; ``wrong`` are sentences, none if everything is correct."""

    terms: Terms
    seconds: float
    done: Mapping[str, int]
    """Counts of faults and of their effects in the site."""
    longest: Mapping[str, float]
    """The longest waits, in seconds."""
    wrong: tuple[str, ...]
    games: str
    """A digest of all games: players, moves and result by key."""
    tables: str
    """A digest of all standings and of the tournaments' own ratings."""


def run_soak(terms: Terms) -> Outcome:
    """Run in a new process: Django cannot change its database. A wrong site's folder is kept."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    begun, folder = time.monotonic(), Path(tempfile.mkdtemp(prefix="duarena-soak-"))
    known = set(descendants(os.getpid()))
    with running_site(terms, folder, LADDER_SETTINGS if terms.ladders else {}) as site:
        start_event(terms)
        faults = Faults(site, terms)
        absence_s = 0.0 if terms.calm or terms.hang else terms.absence_s
        watch = Watch(terms.lease_s, terms.games if terms.ladders else 0, absence_s)
        annuller = Annuller()
        start_services(terms, site)
        wrong = list(_play(terms, site, faults, watch, annuller))
        site.relay.release()
        site.link.release()
        annuller.finish()
        wrong += site.drain()
        site.supervisor.stop()
        wrong += (f"process {pid} still runs" for pid in set(descendants(os.getpid())) - known)
        wrong += [*find_faults(), *watch.find_faults()]
        counts = faults.counts + annuller.counts + site.relay.counts + site.link.counts + _counts()
        digests = digest_games(), digest_tables()
    if wrong:
        wrong.append(f"logs and database are in {folder}")
    else:
        shutil.rmtree(folder)
    return Outcome(terms, time.monotonic() - begun, counts, watch.longest, tuple(wrong), *digests)


def _play(terms: Terms, site: Site, faults: Faults, watch: Watch, annuller: Annuller) -> Iterator[str]:
    """Continue until all games are played or the time is up."""
    begun = printed = time.monotonic()
    while not watch.look(may_end=faults.is_complete) or faults.is_under_way:
        site.supervisor.tend()
        faults.do_due(watch.done)
        if not faults.is_under_way:
            annuller.do_due(watch.done)
        now = time.monotonic()
        if now - begun > terms.most_s:
            faults.finish()
            yield f"games were left after {terms.most_s:.0f} s"
            return
        if now - printed > PRINT_S:
            printed = now
            longest = ", ".join(f"{what} {value:.0f} s" for what, value in watch.longest.items())
            print(f"{now - begun:5.0f} s: {watch.done} games; {longest}", file=sys.stderr, flush=True)
        time.sleep(POLL_S)


def _counts() -> Counter[str]:
    """The site's own counts of games, attempts and ignored messages."""
    from django.db.models import Count

    from tournament.models import Attempt, Game, Ignored

    ends = Attempt.objects.values_list("end").annotate(Count("id"))
    ignored = Ignored.objects.values_list("reason", "count")
    return Counter(
        {"games": Game.objects.done().count()}
        | {f"attempts {Attempt.End(end).label}": count for end, count in ends}
        | {f"messages ignored: {reason}": count for reason, count in ignored}
    )
