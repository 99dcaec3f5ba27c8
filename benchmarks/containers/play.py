"""The steps with several record keepers and several workers, and with a slot that hangs."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.containers.site import PATIENCE_S, ContainerSite, wait_until
from benchmarks.containers.steps import wait_for_a_game
from benchmarks.runs import Broken
from tournament.embedded.processes.guard import descendants

PAIRS: Final = 8
"""Of games of each meeting of the sample bots: a minute or so on two slots."""
GAMES: Final = 3 * 2 * PAIRS
WAITS: Final = "this one waits until it ends"
READY: Final = " ready."
"""In the log of a record keeper that waits for the lock, and of one that has it."""
WORKERS: Final = 3
NOTICED_S: Final = 75.0
"""A slot that hangs is replaced within a minute, and a busy machine may be late."""

_START: Final = """
import json
from tournament.models import BotVersion, Tournament
from tournament.services.schedule.tournaments import create_round_robin, start
versions = list(BotVersion.objects.filter(bot__name__in=["Random", "Greedy", "Alphabeta"]))
event = create_round_robin(None, name={name!r}, versions=versions, ladders=[{ladder!r}], pairs={pairs},
    time_control="2+0.02", seed=3, opening_plies=2)
start(event)
print(json.dumps(event.games_total))
"""
_ENDS: Final = """
import json
from tournament.models import Attempt
print(json.dumps(Attempt.objects.filter(end={end!r}).count()))
"""


def share_keeper(site: ContainerSite, ladder: str) -> None:
    """Play with a second record keeper that waits; kill the database, then the one that works."""
    (first,) = site.compose.containers("keeper")
    site.scale(keeper=2)
    keepers = site.compose.containers("keeper")
    if _working(site, keepers) != [first]:
        raise Broken("the second record keeper does not wait for the first")
    print("- a second record keeper waits, and its container is healthy")
    games = _start(site, ladder, "Two keepers")
    site.kill(*site.compose.containers("postgres"))
    wait_for_a_game(site, games)
    _wait_for_one(site, keepers)
    print("- postgres was killed; one record keeper works, and the other one waits")
    (killed,) = _working(site, keepers)
    (other,) = (container for container in keepers if container != killed)
    site.kill(killed)
    begun = time.monotonic()
    wait_until(
        lambda: other in _working(site, keepers), PATIENCE_S, lambda: "the second keeper does not take over"
    )
    took = time.monotonic() - begun
    wait_for_a_game(site, games)
    again = time.monotonic() - begun
    _wait_for_one(site, keepers)
    print(f"- the first was killed; the second took over after {took:.0f} s, a game came after {again:.0f} s")
    _end(site, games)
    site.scale(keeper=1)


def _working(site: ContainerSite, keepers: Sequence[str]) -> list[str]:
    """The record keepers that do not wait for the lock, by their logs."""
    logs = {container: site.docker.logs(container) for container in keepers}
    return [container for container in keepers if logs[container].rfind(READY) > logs[container].rfind(WAITS)]


def _wait_for_one(site: ContainerSite, keepers: Sequence[str]) -> None:
    """Wait until one of the record keepers works and the others wait."""
    wait_until(
        lambda: len(_working(site, keepers)) == 1,
        PATIENCE_S,
        lambda: f"these record keepers work: {_working(site, keepers)}",
    )


def share_games(site: ContainerSite, ladder: str) -> None:
    """Play in more containers, and remove them while they play."""
    site.scale(players=WORKERS)
    games = _start(site, ladder, "More players", 3 * PAIRS)
    site.wait_for(games - 2 * GAMES)
    left, returned = games - site.recorded(), _ends(site, "released")
    site.scale(players=1)
    _end(site, games)
    returned = _ends(site, "released") - returned
    print(f"- {WORKERS} containers of players played; two were removed before the last {left} games")
    print(f"- they returned {returned} games, and all were played")


def stop_slot(site: ContainerSite, ladder: str) -> None:
    """Stop one slot of a worker by a signal: its game must be played again, and the slot be replaced."""
    (container,) = site.compose.containers("players")
    main = site.docker.main_process(container)
    games = _start(site, ladder, "A slot that hangs")
    before, lost = find_slots(main), _ends(site, "lost")
    wait_until(lambda: bool(_busy(before)), PATIENCE_S, lambda: "no slot plays")
    stopped = _busy(before)[0]
    os.kill(stopped, signal.SIGSTOP)
    begun = time.monotonic()

    def is_replaced() -> bool:
        slots = find_slots(main)
        return stopped not in slots and len(slots) == len(before)

    wait_until(is_replaced, NOTICED_S, lambda: "the slot that hangs is not replaced")
    took = time.monotonic() - begun
    _end(site, games)
    lost = _ends(site, "lost") - lost
    if not lost:
        raise Broken("no game of the slot that hung was played again")
    print(
        f"- a slot was stopped; after {took:.0f} s another one took its place; {lost} games were played again"
    )


def _start(site: ContainerSite, ladder: str, name: str, pairs: int = PAIRS) -> int:
    """Start a tournament and wait for a game; returns how many will be recorded at its end."""
    before = site.recorded()
    total = int(site.run(_START.format(ladder=ladder, name=name, pairs=pairs)))
    site.wait_for(before + 1)
    return before + total


def _ends(site: ContainerSite, end: str) -> int:
    """How many attempts have ended so."""
    return int(site.run(_ENDS.format(end=end)))


def _end(site: ContainerSite, games: int) -> None:
    site.wait_for(games)
    site.check()


def find_slots(main: int) -> list[int]:
    """The slots of the worker below a process: the processes with its command that it has forked."""
    processes = descendants(main)
    workers = [pid for pid in processes if "start" in (words := _words(pid)) and "watch" not in words]
    return sorted(slot for pid in workers for slot in descendants(pid) if slot in workers)


def _busy(slots: Sequence[int]) -> list[int]:
    """The slots with engines."""
    return [slot for slot in slots if descendants(slot)]


def _words(pid: int) -> list[str]:
    """The command of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return []
