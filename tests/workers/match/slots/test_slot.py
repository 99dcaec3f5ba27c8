"""A slot's process by itself: its messages, and its end when the match has vanished."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tests.support.jobs import bad_engine, job_of, processes_with, wait_until
from tests.support.matches import ROOT, terms_of
from workers.jobs import EngineSpec
from workers.match.options.options import MatchOptions
from workers.match.slots.messages import IntroducedEngine, SlotSetup

PROGRAM = """
from multiprocessing.connection import Connection
from workers.match.slots.slot import run_slot
batches, news = Connection(0, writable=False), Connection(1, readable=False)
run_slot(batches.recv(), batches, news)
"""
ENGINE = """
while read -r word _; do
    case $word in ugi) echo ugiok ;; isready) echo readyok ;; go) %s ;; esac
done
"""
"""An engine as a shell script, which starts fast; each test supplies its answer to ``go``."""


@dataclass(frozen=True)
class Slot:
    process: subprocess.Popen[bytes]
    to_slot: Connection
    from_slot: Connection

    def give(self, one: EngineSpec, two: EngineSpec) -> None:
        """Send the slot a pair of games between the two engines."""
        self.to_slot.send([job_of(one, two, games=2)])


@pytest.fixture
def slot(tmp_path: Path) -> Iterator[Slot]:
    stdin, to_slot = Pipe(duplex=False)
    from_slot, stdout = Pipe(duplex=False)
    argv = (sys.executable, "-c", PROGRAM)
    with (
        to_slot,
        from_slot,
        subprocess.Popen(
            argv, stdin=stdin.fileno(), stdout=stdout.fileno(), stderr=subprocess.PIPE, cwd=ROOT
        ) as process,
    ):
        stdin.close()
        stdout.close()
        to_slot.send(SlotSetup(MatchOptions(terms_of()), tmp_path))
        yield Slot(process, to_slot, from_slot)
        process.kill()


def test_a_forfeit_is_reported_before_the_next_game_has_ended(slot: Slot) -> None:
    one, two = (EngineSpec(does, "1", ("sh", "-c", ENGINE % does)) for does in ("exit 1", "sleep 30"))
    slot.give(one, two)
    messages = iter(slot.from_slot.recv, None)
    news = next(news for news in messages if not isinstance(news, IntroducedEngine))
    assert [played.game.termination for played in news.games] == ["crash"]
    assert not news.is_over


def test_a_slot_whose_match_has_vanished_ends_its_engines_and_prints_nothing(slot: Slot) -> None:
    mark = f"mark-{uuid.uuid4()}"
    assert slot.process.stderr is not None
    slot.from_slot.close()
    slot.give(bad_engine(mark=mark), bad_engine(mark=mark))
    assert slot.process.stderr.read() == b""
    assert slot.process.wait() == 0
    assert wait_until(lambda: not processes_with(mark))
