"""A search from its job to its last news, with real engines in real bundles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from engines.rules.registry import GAMES
from tests.support.jobs import BadBundles, nothing_left, plan_of
from workers.jobs import JobError, SearchJob, SearchNews
from workers.messages import decode
from workers.play.runner import WorkerContext
from workers.service.searching import search

pytestmark = pytest.mark.slow
LADDER = "dogon-kulei"
Run = Callable[..., list[SearchNews]]


@pytest.fixture
def run(tmp_path: Path, mark: str) -> Run:
    """Search with a bad engine of this plan, and return all news."""

    def search_once(
        plan: str = "",
        *,
        plies: Sequence[int] = (0, 2),
        ms: int = 50,
        fen: str | None = None,
        is_stopping: Callable[[], bool] = lambda: False,
    ) -> list[SearchNews]:
        spec = BadBundles(tmp_path / "store", mark)(*plan_of(plan))
        sent: list[SearchNews] = []
        worker = WorkerContext("tester", tmp_path / "store", tmp_path / "cache")
        job = SearchJob("s1", spec, LADDER, fen, ("c1+", "c2-"), tuple(plies), ms)
        with nothing_left(mark):
            search(job, worker, sent.append, is_stopping)
        return sent

    return search_once


def test_each_position_gets_a_legal_move_and_the_last_news_is_over(run: Run) -> None:
    sent = run()
    found = [one for news in sent for one in news.found if one.move]
    assert [one.ply for one in found] == [0, 2]
    start = GAMES[LADDER].position.initial()
    start.play(found[0].move)
    start.play("c1+").play("c2-").play(found[1].move)
    assert [news.is_over for news in sent] == [False] * (len(sent) - 1) + [True]
    assert sent[-1].why == ""
    for news in sent:
        assert decode(SearchNews, msgspec.json.encode(news)) == news


def test_lines_are_told_while_the_engine_searches(run: Run) -> None:
    sent = run(r"go also info\x20depth\x203\x20score\x20cp\x2020\x20nodes\x20900\n go late 0.8", ms=20_000)
    found = [(one.ply, bool(one.move), one.comment[:7]) for news in sent for one in news.found]
    assert found == [(0, False, "+0.20/3"), (0, True, "+0.20/3"), (2, False, "+0.20/3"), (2, True, "+0.20/3")]


@pytest.mark.parametrize(
    ("plan", "why"),
    [("ugi leave 3", "exit code 3"), ("go leave 3", "exit code 3"), (r"go only bestmove\x20z9\n", "z9")],
)
def test_an_engine_at_fault_ends_the_search_with_a_sentence(run: Run, plan: str, why: str) -> None:
    last = run(plan)[-1]
    assert last.is_over
    assert why in last.why


def test_lines_go_on_beyond_the_ply_limit(run: Run) -> None:
    limit = GAMES[LADDER].ply_limit
    start = str(GAMES[LADDER].position.initial())
    assert start.endswith(" 0")
    sent = run(fen=f"{start[:-1]}{limit - limit % 2}")
    assert [one.ply for news in sent for one in news.found if one.move] == [0, 2]
    assert sent[-1].why == ""


def test_an_engine_may_resign(run: Run) -> None:
    sent = run(r"go only bestmove\x20resign\n", plies=(0,))
    assert [one.move for news in sent for one in news.found] == ["resign"]
    assert sent[-1].why == ""


def test_a_bundle_that_no_worker_has_is_nobody_s_fault(tmp_path: Path, mark: str) -> None:
    spec = replace(BadBundles(tmp_path / "store", mark)(), bundle="0" * 64)
    sent: list[SearchNews] = []
    worker = WorkerContext("tester", tmp_path / "store", tmp_path / "cache")
    search(SearchJob("s1", spec, LADDER, None, (), (0,), 50), worker, sent.append)
    assert [(news.found, news.is_over, news.why) for news in sent] == [((), True, "")]


def test_a_stop_ends_it_without_a_reason(run: Run) -> None:
    last = run(is_stopping=lambda: True)[-1]
    assert last.is_over
    assert last.why == ""


@pytest.mark.parametrize(("plies", "ms"), [((3,), 50), ((-1,), 50), ((0,), 0)])
def test_a_job_with_wrong_numbers_is_refused(
    plies: tuple[int, ...], ms: int, tmp_path: Path, mark: str
) -> None:
    spec = BadBundles(tmp_path / "store", mark)()
    with pytest.raises(JobError, match="SearchJob"):
        SearchJob("s1", spec, LADDER, None, ("c1+", "c2-"), plies, ms)
