"""The slots of a match, seen from the match: processes that are given games and hand them back.

None outlives the match, not even one that is killed outright.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from workers.engine.process import REAPER
from workers.jobs import JobGame
from workers.match.plan import PlannedPair
from workers.match.slots.messages import Batch, SlotNews, SlotSetup
from workers.reaper import remove_scratch

READ_BYTES = 64 * 1024
FAREWELL_SECONDS = 5.0
"""For a slot to end its engines and itself, once it was told to."""
TOPOLOGY = Path("/sys/devices/system/cpu")


class SlotProcess:
    """One slot's process, and the games it was given. Whoever starts one must ``end`` it."""

    def __init__(self, setup: SlotSetup) -> None:
        self.games: deque[tuple[PlannedPair, JobGame]] = deque()
        """Those given and not handed back yet, in order."""
        self._rest = b""
        self._scratch = tempfile.mkdtemp(prefix="duarena-slot-")
        REAPER.watch(self._scratch)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "workers.match.slots.slot", json.dumps(setup.to_json())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "TMPDIR": self._scratch},
            bufsize=0,
            start_new_session=True,  # Ctrl-C is for the match, which tells its slots
        )
        REAPER.watch(self._scratch, self._process.pid)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout

    def fileno(self) -> int:
        return self._stdout.fileno()

    def give(self, pairs: Sequence[PlannedPair], batch: Batch) -> None:
        """Games to play; a slot that has ended is found out by reading."""
        self.games.extend((pair, game) for pair in pairs for game in pair.games)
        with contextlib.suppress(BrokenPipeError):
            self._stdin.write(json.dumps(batch.to_json()).encode() + b"\n")

    def read(self) -> list[SlotNews] | None:
        """What it has told of; waits for nothing. None: the slot has ended."""
        chunk = os.read(self.fileno(), READ_BYTES)
        if not chunk:
            return None
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return [SlotNews.from_json(json.loads(line)) for line in lines]

    def finish(self) -> None:
        """Ask it to end after the game under way."""
        self._process.send_signal(signal.SIGTERM)
        self.dismiss()

    def break_off(self) -> None:
        """Ask it to end now."""
        self._process.send_signal(signal.SIGUSR1)
        self.dismiss()

    def kill(self) -> None:
        """End it without asking; its engines end with it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def dismiss(self) -> None:
        """Nothing more will be asked of it: once idle it ends."""
        self._stdin.close()

    def end(self) -> None:
        """Wait until it has ended, a few seconds, then see to it. May be repeated."""
        self.dismiss()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(FAREWELL_SECONDS)
        self.kill()
        self._process.wait()
        self._stdout.close()
        remove_scratch(self._scratch)
        REAPER.forget(self._scratch)


class SlotPool:
    """All slots; started when there is something to play, at most one for each core given or None."""

    def __init__(self, store: Path, cores: Sequence[int | None], walls: str = "") -> None:
        self._store = store
        self._walls = walls
        self._free_cores = list(reversed(cores))
        self._cores: dict[SlotProcess, int | None] = {}
        self.idle: list[SlotProcess] = []
        self.busy: list[SlotProcess] = []

    def take(self) -> SlotProcess | None:
        """A slot with nothing to do, newly started if need be; None when all are busy."""
        if self.idle:
            slot = self.idle.pop()
        elif self._free_cores:
            core = self._free_cores.pop()
            slot = SlotProcess(SlotSetup(str(self._store), str(self._store), core, self._walls))
            self._cores[slot] = core
        else:
            return None
        self.busy.append(slot)
        return slot

    def release(self, slot: SlotProcess) -> None:
        self.busy.remove(slot)
        self.idle.append(slot)

    def discard(self, slot: SlotProcess) -> None:
        """One that has ended; another may be started in its place."""
        (self.busy if slot in self.busy else self.idle).remove(slot)
        self._free_cores.append(self._cores.pop(slot))
        slot.end()

    def end(self) -> None:
        """End all, side by side."""
        for slot in self._cores:
            slot.dismiss()
        for slot in list(self._cores):
            self.discard(slot)


def choose_cores(count: int, *, pin: bool) -> list[int | None]:
    """A core for each of ``count`` slots; None where there are not enough of them, or none is wanted.

    Threads of one core are told apart: a second thread is used when no core is left.
    """
    cores = sorted(os.sched_getaffinity(0), key=lambda core: (_rank_in_core(core), core))
    return [*cores[:count]] if pin and count <= len(cores) else [None] * count


def _rank_in_core(cpu: int) -> int:
    """Which of its core's threads this is, from 0; all are the first where the machine does not tell."""
    try:
        text = (TOPOLOGY / f"cpu{cpu}" / "topology" / "thread_siblings_list").read_text()
    except OSError:
        return 0
    first = text.replace("-", ",").partition(",")[0].strip()
    return int(first != str(cpu))
