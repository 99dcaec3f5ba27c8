"""The checks of the soak test: no error on a correct site, and each error that it can find."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import redis
from django.utils import timezone

from benchmarks.soak import annulments, harm, site
from benchmarks.soak.__main__ import compare
from benchmarks.soak.annulments import Annuller
from benchmarks.soak.harm import Cut
from benchmarks.soak.site import Site
from benchmarks.soak.terms import STUCK_S, Outcome, Terms
from benchmarks.soak.verdicts import digest_games, digest_tables, find_faults
from benchmarks.soak.watch import Watch
from tests.support.schedule import make_tournament, play_all
from tournament.models import Attempt, Game, GameRecord, Ladder, LadderRating, RatingEvent, Tournament
from tournament.services.annulments import take_back
from tournament.services.results import keeper
from tournament.services.results.rebuilding import rebuild_outdated
from workers.jobs import GameJob

pytestmark = pytest.mark.slow


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


def test_a_few_games_are_annulled_and_always_the_same(played: Tournament) -> None:
    seen = set()
    for steps in ([6], [2, 4, 6], []):
        annuller = Annuller()
        for done in steps:
            annuller.do_due(done)
        annuller.finish()
        seen.add(tuple(Game.objects.filter(annulled=True).values_list("key", flat=True)))
        assert rebuild_outdated() == 1
        assert list(find_faults()) == []
        take_back(Game.objects.all(), timezone.now())
    assert [len(keys) for keys in seen] == [1]


def test_all_that_is_chosen_is_annulled_and_half_of_it_taken_back(
    played: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(annulments, "PART", 2**31)
    annuller = Annuller()
    annuller.do_due(6)
    assert not Game.objects.counted().exists()
    annuller.do_due(7)
    annuller.finish()
    digests = [zlib.crc32(key.encode()) for key in Game.objects.values_list("key", flat=True)]
    annulled = sum(digest < 2**31 for digest in digests)
    assert 0 < annulled < 6
    assert Game.objects.filter(annulled=True).count() == annulled
    assert annuller.counts == {"games annulled": 6, "annulments taken back": 6 - annulled}


class Store:
    """A Redis that is down at first, and then has one message less at each look."""

    def __init__(self) -> None:
        self.answers: list[int | None] = [None, None, 2, 1, 0]
        self.restarts = 0

    def llen(self, queue: str) -> int:
        answer = self.answers.pop(0)
        if answer is None:
            raise redis.ConnectionError("refused")
        return answer

    def restart_if_dead(self) -> None:
        self.restarts += 1


def test_a_redis_that_is_down_at_the_end_is_waited_for(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store()
    monkeypatch.setattr("time.sleep", lambda _: None)
    parts: Any = (Path(), store, store, None, None, store, store, [], None)
    assert list(Site(*parts).drain()) == []
    assert (store.answers, store.restarts) == ([], 12)
    monkeypatch.setattr(site, "DRAIN_S", -1.0)
    store.answers = [None]
    assert list(Site(*parts).drain()) == ["at the end: Redis does not answer: refused"]


def test_ratings_that_are_not_rebuilt_at_the_end_are_reported(
    played: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    Annuller().finish()
    store = Store()
    store.answers = [0]
    monkeypatch.setattr(site, "DRAIN_S", -1.0)
    parts: Any = (Path(), store, store, None, None, store, store, [], None)
    assert list(Site(*parts).drain()) == ["at the end: the ratings are not rebuilt: duploline"]


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
