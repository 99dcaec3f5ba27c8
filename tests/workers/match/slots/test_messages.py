"""Messages between a match and its slots arrive whole, however the pipe divides them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from engines.rules.base import Result
from tests.support.jobs import bad_engine, job_of
from workers.jobs import SideLog
from workers.match.slots.messages import (
    NO_LOG,
    Assignment,
    BatchReader,
    BatchWriter,
    IntroducedEngine,
    MessageReader,
    PairTerms,
    SlotGame,
    SlotNews,
    read_news,
    write_news,
)
from workers.play.pool import RestartMode

JOB = job_of(bad_engine(), bad_engine(options=(("Hash", "16"),), control="1+0"), games=2)
TERMS = PairTerms(
    replace(JOB, games=()), (RestartMode.ON, RestartMode.OFF), (50, 0), (10, 20), "E", "?", keeps_lines=True
)
LOST = SideLog(stderr="\udcff\0", lines="   0.000 > ugi\n")
GAME = SlotGame(
    "d/1/1/1", "[Event]\n", Result.WHITE_WINS, "crash", "black", "gone", 3, LOST, NO_LOG, 12, "ab"
)
NEWS = [
    SlotNews((), False, (IntroducedEngine("é", ("one", "two")),)),
    SlotNews((GAME, replace(GAME, record="x" * 5000)), False),
    SlotNews((), True),
]


@given(st.lists(st.integers(0, 6000), max_size=9))
def test_news_are_read_as_they_were_written(places: list[int]) -> None:
    data, reader = b"".join(map(write_news, NEWS)), MessageReader()
    ends = [0, *sorted(place % len(data) for place in places), len(data)]
    pieces = [data[begin:end] for begin, end in pairwise(ends)]
    assert [read_news(values) for piece in pieces for values in reader.read(piece)] == NEWS


def test_a_log_that_nobody_wants_is_not_sent_but_the_same_object() -> None:
    (values,) = MessageReader().read(write_news(NEWS[1]))
    assert read_news(values).games[0].black is NO_LOG


def test_terms_are_sent_once_and_shared_by_all_assignments() -> None:
    other = replace(TERMS, wait_ms=5)
    batches = [
        [Assignment(TERMS, "1", JOB.games, ("d1+",)), Assignment(other, "2", JOB.games)],
        [Assignment(TERMS, "3", JOB.games, fen="k 1")],
    ]
    writer, reader, messages = BatchWriter(), BatchReader(), MessageReader()
    data = [writer.write(batch) for batch in batches]
    read = [list(reader.read(values)) for values in messages.read(b"".join(data))]
    assert read == batches
    assert read[0][0].terms is read[1][0].terms
    assert len(data[1]) < 300 < len(data[0])
    assert read[0][0].job == replace(JOB, opening=("d1+",))
