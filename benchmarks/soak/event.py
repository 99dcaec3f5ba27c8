"""The bots and tournaments of the soak test; their games depend only on the seed."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.soak.site import Terms
from benchmarks.throughput import register
from engines import bots
from engines.bots import SAMPLE_BOTS
from workers.bundles.store import pack_bundle

if TYPE_CHECKING:
    from tournament.models import BotVersion

LADDERS: Final = ("dogon-kulei", "dogon-gagara")
C_BOT: Final = Path(bots.__file__).parent / "languages" / "dogon.c"
C_BOTS: Final = 3
PYTHON_BOTS: Final = ("Random",)
LIMITS: Final = {"ply_limit": 80, "opening_plies": 4}
NODES: Final = "nodes=2000"
"""The time control: a limit of nodes, so that a seed gives the same games under any load."""
LADDER_SETTINGS: Final = {
    "DUARENA_LADDER_GAMES": "36000",  # an hour: more than can be played, so that workers are never idle
    "DUARENA_TRUST_UPLOADS": "1",  # the bots are those of this project
}
"""The settings of a site whose ladders play."""


def start_event(terms: Terms) -> None:
    """Start a large round robin, a Swiss and a knock-out, or activate bots on the ladders."""
    if terms.ladders:
        _enter_ladders(_register())
    else:
        _start_tournaments(terms)


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


def _start_tournaments(terms: Terms) -> None:
    from tournament.models import Tournament
    from tournament.services.schedule.tournaments import TournamentTerms as Event
    from tournament.services.schedule.tournaments import create, start

    entrants = _register()
    swiss, knock_out = Tournament.Kind.SWISS, Tournament.Kind.KNOCK_OUT
    common: dict[str, Any] = {"versions": entrants, "seed": 1, "time_control": NODES, **LIMITS}
    ladders = list(LADDERS)
    pairs = max(1, terms.games // (len(entrants) * (len(entrants) - 1) * len(ladders)))
    for event in (
        Event(name="Swiss", kind=swiss, ladders=ladders, pairs=1, rounds=3, **common),
        Event(name="Knock-out", kind=knock_out, ladders=ladders[:1], pairs=1, extra_pairs=1, **common),
        Event(name="Round robin", ladders=ladders, pairs=pairs, **common),
    ):
        start(create(None, event))


def _register() -> list[BotVersion]:
    """Register bots in C, which start fast, and one in Python, which draws its moves from its seed."""
    return [register(content) for content in pack_bots()]


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
