"""A slot's process by itself: its messages, and its end when the match has vanished."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.jobs import bad_engine, job_of, processes_with, wait_until
from tests.support.matches import ROOT
from workers.jobs import EngineSpec
from workers.match.slots.messages import (
    Assignment,
    BatchWriter,
    MessageReader,
    PairTerms,
    SlotNews,
    SlotSetup,
    read_news,
)
from workers.play.pool import RestartMode

Slot = subprocess.Popen[bytes]

ENGINE = """
while read -r word _; do
    case $word in ugi) echo ugiok ;; isready) echo readyok ;; go) %s ;; esac
done
"""
"""An engine as a shell script, which starts fast; each test supplies its answer to ``go``."""


@pytest.fixture
def slot(tmp_path: Path) -> Iterator[Slot]:
    setup = SlotSetup(store=str(tmp_path), cache=str(tmp_path), core=None)
    argv = (sys.executable, "-m", "workers.match.slots.slot", json.dumps(setup.to_json()))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(argv, **pipes, cwd=ROOT) as process:  # type: ignore[call-overload]
        yield process
        process.kill()


def give(slot: Slot, one: EngineSpec, two: EngineSpec) -> None:
    """Send the slot a pair of games between the two engines."""
    job = job_of(one, two, games=2)
    restart = (RestartMode.AUTO, RestartMode.AUTO)
    terms = PairTerms(replace(job, games=()), restart, (50, 50), (10, 10), "?", "?", keeps_lines=False)
    assert slot.stdin is not None
    slot.stdin.write(BatchWriter().write([Assignment(terms, "1", job.games)]))
    slot.stdin.flush()


def news_of(slot: Slot) -> Iterator[SlotNews]:
    assert slot.stdout is not None
    messages = MessageReader()
    while chunk := os.read(slot.stdout.fileno(), 65536):
        yield from map(read_news, messages.read(chunk))


def test_a_forfeit_is_reported_before_the_next_game_has_ended(slot: Slot) -> None:
    one, two = (EngineSpec(does, "1", ("sh", "-c", ENGINE % does)) for does in ("exit 1", "sleep 30"))
    give(slot, one, two)
    assert slot.stdout is not None
    news = next(news for news in news_of(slot) if not news.introduced)
    assert [game.termination for game in news.games] == ["crash"]
    assert not news.is_over


def test_a_slot_whose_match_has_vanished_ends_its_engines_and_prints_nothing(slot: Slot) -> None:
    mark = f"mark-{uuid.uuid4()}"
    assert slot.stdout is not None
    assert slot.stderr is not None
    slot.stdout.close()
    give(slot, bad_engine(mark=mark), bad_engine(mark=mark))
    assert slot.stderr.read() == b""
    assert slot.wait() == 0
    assert wait_until(lambda: not processes_with(mark))
