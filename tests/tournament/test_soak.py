"""The checks of the soak test: no error on a correct site, and each error that it can find."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from django.utils import timezone

from benchmarks.soak import harm
from benchmarks.soak.__main__ import compare
from benchmarks.soak.harm import Cut
from benchmarks.soak.site import Site
from benchmarks.soak.terms import STUCK_S, Outcome, Terms
from benchmarks.soak.verdicts import digest_games, digest_tables, find_faults
from benchmarks.soak.watch import Watch
from tests.support.schedule import make_tournament, play_all
from tournament.models import Attempt, Game, GameRecord, Ladder, LadderRating, RatingEvent, Tournament
from tournament.services.results import keeper
from workers.jobs import GameJob


@pytest.fixture
def played(db: None, deal: Callable[[], list[GameJob]]) -> Tournament:
    """A tournament that was played to its end."""
    tournament = make_tournament(bots=3)
    while jobs := deal():
        for job in jobs:
            for report in play_all(job):
                keeper.record(report)
    tournament.refresh_from_db()
    return tournament


def test_a_site_without_fault_passes(played: Tournament) -> None:
    assert list(find_faults()) == []


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (
            lambda: Game.objects.filter(pk=first().pk).update(state="waiting", result=None, sequence=None),
            "is waiting, not done",
        ),
        (lambda: Attempt.objects.filter(game=first()).update(end="lost"), "has 0 recorded attempts"),
        (lambda: Attempt.objects.filter(game=first()).update(end="", ended_at=None), "has no end"),
        (lambda: GameRecord.objects.filter(game=first()).delete(), "has no record"),
        (lambda: Game.objects.filter(pk=first().pk).update(sequence=100), "last number"),
        (lambda: Ladder.objects.update(sequence=7), "last number 7"),
        (lambda: LadderRating.objects.update(mu=1.0), "other ratings"),
        (lambda: RatingEvent.objects.filter(game=first())[0].delete(), "1 steps of ratings"),
        (lambda: Tournament.objects.update(games_done=1), "is finished with (1, 6, 6, 6) games"),
    ],
)
def test_a_fault_is_found(played: Tournament, harm: Callable[[], object], sentence: str) -> None:
    harm()
    assert any(sentence in fault for fault in find_faults())


def first() -> Game:
    return Game.objects.order_by("id")[0]


def test_a_game_without_a_sign_of_life_is_noticed(db: None, deal: Callable[[], list[GameJob]]) -> None:
    make_tournament()
    deal()
    watch = Watch(30)
    assert not watch.look()
    assert list(watch.find_faults()) == []
    Attempt.objects.update(
        sent_at=Attempt.objects.earliest("sent_at").sent_at - timedelta(seconds=2 * STUCK_S)
    )
    watch.look()
    assert [fault.partition(" for ")[0] for fault in watch.find_faults()] == ["a game without progress"]


class Hosts:
    """A site with the parts that a cut uses: the network's switch, the keeper's queue, a worker's name."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self.switched: list[str] = []
        self.queued = 0
        self.network = self.client = self
        self.workers = [SimpleNamespace(name="players-1")]

    def cut(self, host: int) -> None:
        self.switched.append(f"cut {host}")

    def join(self, host: int) -> None:
        self.switched.append(f"join {host}")

    def llen(self, queue: str) -> int:
        return self.queued


@pytest.fixture
def cut(tmp_path: Path, db: None, deal: Callable[[], list[GameJob]], monkeypatch: pytest.MonkeyPatch) -> Cut:
    """A cut without pauses, while two games are given out."""
    monkeypatch.setattr(harm, "SETTLE_S", 0.0)
    make_tournament()
    deal()
    return Cut(cast(Site, Hosts(tmp_path)), seconds=0.0)


def hosts_of(cut: Cut) -> Hosts:
    return cast(Hosts, cut._site)


def test_a_host_is_cut_off_only_while_the_site_sees_a_game_under_way_there(cut: Cut) -> None:
    cut.do_due(done=99)
    Attempt.objects.update(started_at=timezone.now(), worker="players-2@vm/7")
    cut.do_due(done=99)
    assert hosts_of(cut).switched == []
    assert list(cut.find_faults()) == ["no host was cut off in the middle of a game"]
    Attempt.objects.update(worker="players-1@vm/8")
    cut.do_due(done=99)
    assert hosts_of(cut).switched == ["cut 0"]


def test_a_cut_that_came_after_the_end_of_the_game_is_taken_back_and_tried_again(cut: Cut) -> None:
    Attempt.objects.update(started_at=timezone.now(), worker="players-1@vm/8")
    cut.do_due(done=99)
    hosts_of(cut).queued = 1
    cut.do_due(done=99)
    assert hosts_of(cut).switched == ["cut 0"], (
        "a message that the keeper has not read yet may be the end of the game"
    )
    hosts_of(cut).queued = 0
    Attempt.objects.update(end=Attempt.End.RECORDED, ended_at=timezone.now())
    cut.do_due(done=99)
    assert hosts_of(cut).switched == ["cut 0", "join 0"]
    Attempt.objects.update(end=Attempt.End.OPEN, ended_at=None)
    for _ in range(4):
        cut.do_due(done=99)
    assert hosts_of(cut).switched == ["cut 0", "join 0"] * 2
    assert dict(cut.counts) == {"cuts between two games": 1, "hosts cut off": 1, "hosts back again": 1}
    fault = "the host was cut off in the middle of a game, and none was lost"
    assert list(cut.find_faults()) == [fault]
    lost = Attempt.objects.filter(pk=Attempt.objects.earliest("sent_at").pk)
    lost.update(end=Attempt.End.LOST, ended_at=timezone.now())
    assert list(cut.find_faults()) == []


def test_runs_that_played_different_games_are_reported(played: Tournament) -> None:
    same = Outcome(Terms(6), 1.0, {}, {}, (), digest_games(), digest_tables())
    assert list(compare([same, same])) == []
    GameRecord.objects.filter(game=first()).delete()
    other = Outcome(Terms(6, "postgresql"), 1.0, {}, {}, (), digest_games(), digest_tables())
    assert [fault.partition(" than ")[0] for fault in compare([same, other])] == [
        "postgresql, soaked, 3 × 1 slots: other games"
    ]
