"""One run: starts a site, causes faults until all games are played, and checks the site.

The games of the tournaments depend only on the seed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.soak.faults import Faults
from benchmarks.soak.site import Site, Terms, running_site, start_services
from benchmarks.soak.watch import Annuller, Watch
from benchmarks.throughput import register
from engines import bots
from engines.bots import SAMPLE_BOTS
from engines.bundles.store import pack_bundle
from tests.support.verdicts import digest_games, digest_tables, find_faults
from workers.sandbox.tree import descendants
from workers.watchdog import end_with_parent

if TYPE_CHECKING:
    from tournament.models import BotVersion

POLL_SECONDS: Final = 0.25
PRINT_SECONDS: Final = 30.0
LADDERS: Final = ("dogon-kulei", "dogon-gagara")
C_BOT: Final = Path(bots.__file__).parent / "languages" / "dogon.c"
C_BOTS: Final = 3
PYTHON_BOTS: Final = ("Random",)
LIMITS: Final = {"ply_limit": 80, "opening_plies": 4}
NODES: Final = "nodes=2000"
"""The time control: a limit of nodes, so that a seed gives the same games under any load."""


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
    """A digest of the tournaments' games: players, moves and result by key."""
    tables: str
    """A digest of the tournaments' standings and of their own ratings."""


def run_soak(terms: Terms) -> Outcome:
    """Run in a new process: Django cannot change its database. A wrong site's folder is kept."""
    end_with_parent()  # then its guards end the site
    begun, folder = time.monotonic(), Path(tempfile.mkdtemp(prefix="duarena-soak-"))
    known = set(descendants(os.getpid()))
    with running_site(terms, folder) as site:
        start_event(terms)
        faults = Faults(site, terms)
        watch, annuller = Watch(terms.lease_s), Annuller()
        start_services(terms, site)
        wrong = list(_play(terms, site, faults, watch, annuller))
        wrong += site.drain(annuller.finish)
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
        if now - printed > PRINT_SECONDS:
            printed = now
            longest = ", ".join(f"{what} {value:.0f} s" for what, value in watch.longest.items())
            print(f"{now - begun:5.0f} s: {watch.done} games; {longest}", file=sys.stderr, flush=True)
        time.sleep(POLL_SECONDS)


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


def start_event(terms: Terms) -> None:
    """Start a large round robin, a Swiss and a knock-out; unless the run is calm, the ladders play too."""
    from tournament.services.schedule.tournaments import TournamentTerms as Event
    from tournament.services.schedule.tournaments import create, start

    # Bots in C, which start fast, and one in Python, which draws its moves from its seed.
    entrants = [register(content) for content in pack_bots()]
    swiss, knock_out = "swiss", "knock-out"
    common: dict[str, Any] = {"versions": entrants, "seed": 1, "time_control": NODES, "rated_off_terms": True}
    common |= LIMITS
    ladders = list(LADDERS)
    pairs = max(1, terms.games // (len(entrants) * (len(entrants) - 1) * len(ladders)))
    for event in (
        Event(name="Swiss", kind=swiss, ladders=ladders, pairs=1, rounds=3, **common),
        Event(name="Knock-out", kind=knock_out, ladders=ladders[:1], pairs=1, extra_pairs=1, **common),
        Event(name="Round robin", ladders=ladders, pairs=pairs, **common),
    ):
        start(create(None, event))
    if not terms.calm:
        _enter_ladders(entrants)


def _enter_ladders(versions: Sequence[BotVersion]) -> None:
    """Activate each version, with an owner of its own: bots of one owner never meet."""
    from tournament.models import Bot, Ladder, Matchmaking, User
    from tournament.services.bots.activity import activate

    Ladder.objects.ensure()
    Matchmaking.objects.ensure()
    Matchmaking.objects.update(time_control=NODES)
    for number, version in enumerate(versions, 1):
        owner = User.objects.create_user(f"owner-{number}")
        Bot.objects.filter(pk=version.bot_id).update(owner=owner)
        activate(version)


def pack_bots() -> Iterator[bytes]:
    """The bots' bundles; raises ``subprocess.CalledProcessError`` without a C compiler."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "dogon")
        subprocess.run(("cc", "-O2", "-o", program, C_BOT), check=True)
        for number in range(1, C_BOTS + 1):
            yield pack_bundle(
                {"bot.toml": _manifest(f"Dogon {number}", "./dogon"), "dogon": program.read_bytes()}
            )
    for sample in SAMPLE_BOTS:
        if sample.name in PYTHON_BOTS:
            manifest = _manifest(sample.name, "python3", "main.py")
            yield pack_bundle({"bot.toml": manifest, "main.py": sample.path.read_bytes()})


def _manifest(name: str, *command: str) -> bytes:
    words, games = json.dumps(command), json.dumps(LADDERS)
    return f'[bot]\nname = "{name}"\nversion = "1"\ncommand = {words}\ngames = {games}\n'.encode()
