"""The match's side of its slots: starts their processes, sends them games and reads the finished ones.

Slots are forks of the match: so they load nothing, which would take most of the start of a match. No slot
survives the match, even if the match is killed.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing import Pipe

from engines.console import complain
from engines.pairing.meetings import GAMES_A_PAIR
from workers.cores import claim_cores, claim_given
from workers.engine.child import REAPER
from workers.jobs import GameJob, JobGame
from workers.match.plan import PlannedPair
from workers.match.slots.messages import IntroducedEngine, SlotNews, SlotSetup
from workers.match.slots.slot import run_forked
from workers.reaper import remove_scratch
from workers.strays import end_strays

BATCH_SECONDS = 0.25
"""The expected duration of a slot's batch; a batch has at least one pair."""
EXIT_SECONDS = 5.0
"""The time limit for a slot to end its engines and exit."""


class SlotProcess:
    """One slot's process and the games it was given. The caller must ``end`` it."""

    def __init__(self, setup: SlotSetup) -> None:
        self.core = setup.core
        self.games: deque[tuple[PlannedPair, JobGame]] = deque()
        """The games given and not returned yet, in order."""
        self.is_busy = False
        self.next_pairs = 1
        """The number of pairs in its next batch, from the time that the last one took."""
        self._scratch = tempfile.mkdtemp(prefix="duarena-slot-")
        REAPER.watch(self._scratch)
        gc.freeze()  # else the collections of the slot look at all that it shares, and copy it
        batches, self._to_slot = Pipe(duplex=False)
        self._from_slot, news = Pipe(duplex=False)
        with batches, news:
            self._pid = os.fork() or run_forked(setup, self._scratch, batches, news)
        self._exit = os.pidfd_open(self._pid)
        REAPER.watch(self._scratch, self._pid)

    def fileno(self) -> int:
        return self._from_slot.fileno()

    def give(self, pairs: Sequence[PlannedPair], jobs: Sequence[GameJob]) -> None:
        """Send a batch to play. Does not fail if the slot has ended: ``read`` reports that."""
        self.games.extend((pair, game) for pair in pairs for game in pair.games)
        self.is_busy, self._given, self._given_at = True, len(self.games), time.monotonic()
        self._send(jobs)

    def take_back(self) -> list[tuple[PlannedPair, JobGame]]:
        """End its batch; returns the games that were not played."""
        left = list(self.games)
        self.games.clear()
        self.is_busy = False
        seconds = time.monotonic() - self._given_at
        played = (self._given - len(left)) / GAMES_A_PAIR
        self.next_pairs = max(1, round(played * BATCH_SECONDS / seconds))
        return left

    def _send(self, message: object) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._to_slot.send(message)

    def read(self) -> SlotNews | IntroducedEngine | None:
        """The next message; None if the slot has ended. Call it when ``fileno`` is readable."""
        try:
            message: SlotNews | IntroducedEngine = self._from_slot.recv()
        except (EOFError, OSError):
            return None
        return message

    def stop(self, *, at_once: bool) -> None:
        """Ask it to exit, after the current game or without finishing it."""
        self._signal(signal.SIGUSR1 if at_once else signal.SIGTERM)
        self.close_input()

    def kill(self) -> None:
        """Kill it; its engines end with it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        self._signal(signal.SIGKILL)  # it has no group before it runs

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._exit, number)

    def close_input(self) -> None:
        """Close its input: it exits when it has finished its games."""
        self._to_slot.close()

    def end(self) -> None:
        """Wait a few seconds until it has exited, then kill it."""
        self.close_input()
        select.select([self._exit], [], [], EXIT_SECONDS)
        self.kill()
        os.waitpid(self._pid, 0)
        os.close(self._exit)
        self._from_slot.close()
        end_strays(self._scratch)
        remove_scratch(self._scratch)
        REAPER.forget(self._scratch)


class SlotPool:
    """All slots of a match, each started when it is first needed; at most one for each entry of ``cores``."""

    def __init__(self, setup: SlotSetup, cores: Sequence[int | None]) -> None:
        self._setup = setup
        self._free_cores = list(reversed(cores))
        self._slots: list[SlotProcess] = []

    @property
    def busy(self) -> list[SlotProcess]:
        return [slot for slot in self._slots if slot.is_busy]

    def find_idle(self) -> SlotProcess | None:
        """A slot that is not busy, started if necessary; None if all are busy."""
        idle = [slot for slot in self._slots if not slot.is_busy]
        if not idle and self._free_cores:
            idle = [SlotProcess(replace(self._setup, core=self._free_cores.pop()))]
            self._slots += idle
        return idle[0] if idle else None

    def discard(self, slot: SlotProcess) -> None:
        """Remove a slot that has ended; another may be started on its core."""
        self._slots.remove(slot)
        self._free_cores.append(slot.core)
        slot.end()

    def end(self) -> None:
        """End all slots, in parallel, and the reaper that ends them if this process is killed."""
        for slot in self._slots:
            slot.close_input()
        while self._slots:
            self.discard(self._slots[-1])
        REAPER.close()


def choose_cores(count: int, *, pin: bool, cpus: Sequence[int] = ()) -> list[int | None]:
    """A core for each of ``count`` slots; all None if there are too few cores, or without ``pin``.

    ``cpus`` must be enough, see ``claim_given``; a warning names those that others use too. If there are
    none, see ``claim_cores``.
    """
    if cpus:
        cores, shared = claim_given(cpus, count)
        for core in shared:
            complain(f"warning: -cpus: another match or worker of this machine plays on CPU {core} too")
        return [*cores]
    if not pin or count > len(os.sched_getaffinity(0)):
        return [None] * count
    return [*claim_cores(count)]
