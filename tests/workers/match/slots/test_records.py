"""Records of a slot: those of later games are written in a short way, with the same text."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from engines.records import BOOK, Fault, Termination
from engines.rules.base import Reason, Result
from tests.support.bad_engines import LINE
from tests.support.jobs import job_of
from workers.game.fastpath.comments import NEVER
from workers.game.fastpath.kept import KeptMoves
from workers.game.referee import PlayedGame
from workers.jobs import EngineSpec, GameJob, JobGame, SideLog
from workers.match.options.options import Entrant
from workers.match.slots import slot
from workers.match.slots.slot import RecordWriter
from workers.play.runner import FinishedGame

INFO = b"info depth 3 score cp 12 nodes 900 pv d1+ d2-\n"
DATE = datetime.datetime(2026, 11, 22, 23, 59, tzinfo=datetime.UTC)
ENVIRONMENT = (("Walls", "level B, SIGSTOP"), ("Clock", "run delay"))
JOB = job_of(
    EngineSpec('A "the \\ first" 100%', "1", ("a",)),
    Entrant("B", "2", ("b",), time_control="1+0", margin_ms=70),
    games=0,
)


def played_game(given: int = 0, result: Result = Result.DRAW, **more: Any) -> PlayedGame:
    kept = KeptMoves()
    for token in LINE[:given]:
        kept.add(token, None, book=True)
    for number, token in enumerate(LINE[given:]):
        answer = (INFO if number % 2 else b"") + f"bestmove {token}\n".encode()
        kept.add_answer(token, answer, answer.index(b"bestmove"), number * 1_000_000, NEVER)
    ending: dict[str, Any] = {"termination": Termination.PLY_LIMIT, "fault": Fault.NONE, **more}
    return PlayedGame(kept, result, **ending)


GAMES = [
    played_game(),
    played_game(4),
    played_game(
        2,
        Result.WHITE_WINS,
        termination=Termination.RULES,
        reason=Reason.SEEDS,
        white_score=40,
        black_score=32,
    ),
    played_game(result=Result.BLACK_WINS, termination=Termination.RESIGNATION),
    played_game(
        result=Result.BLACK_WINS, termination=Termination.CRASH, fault=Fault.WHITE, evidence='it "ended"'
    ),
    played_game(result=Result.WHITE_WINS, termination=Termination.ADJUDICATION, evidence="one-sided"),
]


def games_of(jobs: Sequence[GameJob], games: Sequence[PlayedGame]) -> Iterator[tuple[GameJob, FinishedGame]]:
    """Each game in turn for each job, colours alternating."""
    for number, played in enumerate(games):
        for job in jobs:
            game = JobGame(f"dogon-kulei/{number}/1/1", "", number % 2)
            yield replace(job, games=(game,)), FinishedGame(game, played, DATE, DATE, SideLog, SideLog)


@pytest.mark.parametrize("first", GAMES)
def test_later_records_have_the_same_text_as_the_whole_writer_gives(first: PlayedGame) -> None:
    writer = RecordWriter("Event 5%d", "?", ENVIRONMENT)
    for job, finished in games_of([JOB, replace(JOB, job="another")], [first, *GAMES, *GAMES, first]):
        whole = RecordWriter("Event 5%d", "?", ENVIRONMENT).text(job, finished)
        assert writer.text(job, finished) == whole


def test_a_comment_of_an_opening_move_is_the_word_book() -> None:
    kept = played_game(2).kept
    assert (kept.comments()[:3], kept.count_chosen()) == ([BOOK, BOOK, "0.000s"], len(LINE) - 2)
    assert [move.book for move in kept.records()[:3]] == [True, True, False]


def test_the_whole_writer_is_needed_once_for_each_colour_of_each_job(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[object] = []
    monkeypatch.setattr(slot, "format_record", checked.append)
    writer = RecordWriter("", "")
    for job, finished in games_of([JOB, replace(JOB, job="another")], [GAMES[0]] * 20):
        writer.text(job, finished)
    assert len(checked) == 4
