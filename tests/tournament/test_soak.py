"""The checks of the soak test: no error on a correct site, and each error that it can find."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError
from django.db.models import F
from django.utils import timezone

from benchmarks.soak import site, watch
from benchmarks.soak.__main__ import compare
from benchmarks.soak.faults import AWAY, SERVICES, SLOT, STOPPED, WHOLE, Faults
from benchmarks.soak.run import Outcome
from benchmarks.soak.site import Site, Terms
from benchmarks.soak.watch import STUCK_SECONDS, Annuller, Watch
from tests.support.schedule import Deal, make_tournament, play_all, record
from tests.support.verdicts import digest_games, digest_tables, find_faults
from tournament.models import (
    Attempt,
    Game,
    GameRecord,
    InboxReport,
    Job,
    Ladder,
    LadderRating,
    RatingEvent,
    Seat,
    Tournament,
)
from tournament.services.annulments import count_again
from tournament.services.results.rebuilding import rebuild_outdated

pytestmark = pytest.mark.slow


@pytest.fixture
def played(db: None, deal: Deal) -> Tournament:
    """A tournament that was played to its end."""
    tournament = make_tournament(bots=3)
    while jobs := deal():
        for job in jobs:
            for report in play_all(job):
                record(report)
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
        (lambda: Seat.objects.filter(game=first(), is_white=True).delete(), "has the seat None of White"),
        (lambda: Seat.objects.filter(game=first()).update(plies=1), "of Black"),
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


def test_a_game_without_a_sign_of_life_is_noticed(db: None, deal: Deal) -> None:
    make_tournament()
    deal()
    watching = Watch(30)
    assert not watching.look()
    assert list(watching.find_faults()) == []
    long = timedelta(seconds=2 * STUCK_SECONDS)
    Attempt.objects.update(sent_at=F("sent_at") - long)
    Job.objects.update(lease_until=F("lease_until") - long)
    watching.look()
    assert [fault.partition(" for ")[0] for fault in watching.find_faults()] == ["a game without progress"]


def test_games_are_annulled_in_turn_and_the_same_one_stays_annulled(
    played: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "EVERY", 2)
    for steps in ([6], [2, 3, 4, 6], []):
        annuller = Annuller()
        for done in steps:
            annuller.do_due(done)
            assert Game.objects.filter(annulled=True).count() == 1
        annuller.finish()
        assert Game.objects.get(annulled=True).key == min(Game.objects.values_list("key", flat=True))
        assert rebuild_outdated() == 1
        assert list(find_faults()) == []
        assert annuller.counts["games annulled"] == annuller.counts["annulments taken back"] + 1
        count_again(Game.objects.all(), timezone.now())


def test_an_annulment_that_waits_for_a_lock_is_tried_again(
    played: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(*_: object) -> int:
        raise OperationalError("canceling statement due to lock timeout")

    monkeypatch.setattr(watch, "EVERY", 1)
    annuller = Annuller()
    with monkeypatch.context() as stopped:
        stopped.setattr("tournament.services.annulments.annul", wait)
        annuller.do_due(6)
        assert not annuller.finish()
    assert not Game.objects.filter(annulled=True).exists()
    annuller.do_due(6)
    assert annuller.finish()
    assert Game.objects.filter(annulled=True).count() == 1


class Keeper:
    """A record keeper that handles one report at each look."""

    def tend(self) -> None:
        InboxReport.objects.filter(pk__in=InboxReport.objects.values("pk")[:1]).delete()


class Open:
    """A relay that delays nothing."""

    held = 0

    def release(self) -> None: ...


def drained(keeper: Keeper) -> list[str]:
    supervisor: Any = keeper
    relay: Any = Open()
    return list(Site(Path(), supervisor, relay, relay).drain(lambda: True))


def test_reports_that_wait_at_the_end_are_waited_for(
    db: None, deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_tournament(bots=3)
    deal()
    for attempt in Attempt.objects.all():
        InboxReport.objects.create(attempt=attempt, content="", received_at=timezone.now())
    assert InboxReport.objects.count() > 1
    monkeypatch.setattr("time.sleep", lambda _: None)
    assert drained(Keeper()) == []
    InboxReport.objects.create(attempt=Attempt.objects.all()[0], content="", received_at=timezone.now())
    monkeypatch.setattr(site, "DRAIN_SECONDS", -1.0)
    assert drained(Keeper()) == ["at the end: the record keeper has left 1 reports"]


def test_ratings_that_are_not_rebuilt_at_the_end_are_reported(
    played: Tournament, monkeypatch: pytest.MonkeyPatch
) -> None:
    Annuller().finish()
    monkeypatch.setattr(site, "DRAIN_SECONDS", -1.0)
    assert drained(Keeper()) == ["at the end: the ratings are not rebuilt: duploline"]


class HarmedSite:
    """Notes the faults that it is told to have; none fails."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.workers = ["players-1"]
        self.link = self

    def __getattr__(self, name: str) -> Callable[..., bool]:
        def note(*words: str) -> bool:
            self.told.append(" ".join((name, *words)))
            return True

        return note


def test_every_kind_of_fault_is_caused_and_those_that_last_end(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    harmed = HarmedSite()
    site: Any = harmed
    faults = Faults(site, Terms(6))
    for done in range(1, 200):
        now += 10
        faults.do_due(done)
        if faults.is_complete:
            break
    assert {kind for kind in faults.counts if "worker" in kind} == {WHOLE, SLOT, "workers cut off"}
    assert {f"kill {name}" for name in SERVICES} <= set(harmed.told)
    assert {f"stop {name}" for name in STOPPED} <= set(harmed.told)
    assert {"kill redis", "empty_redis", "kill_child site"} <= set(harmed.told)
    away = [(f"take {name}", f"give_back {name}") for name in AWAY]
    for begun, ended in (("take_database", "return_database"), ("silence", "resume"), *away):
        assert harmed.told.index(begun) < harmed.told.index(ended)


def test_no_second_fault_is_caused_before_another_game_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    site: Any = HarmedSite()
    soaked, calm = Faults(site, Terms(6)), Faults(site, Terms(6, calm=True))
    for _ in range(5):
        now += 100
        soaked.do_due(1)
        calm.do_due(1)
    assert len(site.told) == 2
    assert site.told[1] == "kill keeper"
    assert calm.is_complete


def test_runs_that_played_different_games_are_reported(played: Tournament) -> None:
    same = Outcome(Terms(6), 1.0, {}, {}, (), digest_games(), digest_tables())
    assert list(compare([same, same])) == []
    GameRecord.objects.filter(game=first()).delete()
    other = Outcome(Terms(6, "postgresql"), 1.0, {}, {}, (), digest_games(), digest_tables())
    assert [fault.partition(" than ")[0] for fault in compare([same, other])] == [
        "postgresql, soaked, 3 × 1 slots: other games"
    ]
