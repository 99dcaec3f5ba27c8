"""Messages between a match and its slots arrive as they were sent."""

from __future__ import annotations

from multiprocessing import Pipe

import pytest

from engines.rules.base import Result
from tests.support.jobs import bad_engine, job_of
from workers.engine.declared import Unsuited
from workers.jobs import SideLog
from workers.match.results import GameResult
from workers.match.slots.messages import NO_LOG, IntroducedEngine, SlotGame, SlotNews

JOB = job_of(bad_engine(), bad_engine(options=(("Hash", "16"),), control="1+0"), games=2)
LOST = SideLog(stderr="\udcff\0", lines="   0.000 > ugi\n")
GAME = SlotGame(
    GameResult("d/1/1/1", "d", "A", "B", Result.WHITE_WINS, "crash", "black", line="ab"),
    "[Event]\n" * 500,
    "gone",
    LOST,
    NO_LOG,
)


@pytest.mark.parametrize(
    "message",
    [
        [JOB, JOB],
        IntroducedEngine("é", (Unsuited("Hash", "one"), Unsuited("ü", "two"))),
        SlotNews((GAME, GAME), False),
        SlotNews((), True),
    ],
)
def test_a_message_is_read_as_it_was_sent(message: object) -> None:
    reader, writer = Pipe(duplex=False)
    with reader, writer:
        writer.send(message)
        assert reader.recv() == message
