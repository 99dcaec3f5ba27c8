"""What a soak finds wrong with a site: nothing where nothing is, and each thing that can be."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from benchmarks.soak.__main__ import compare
from benchmarks.soak.terms import STUCK_S, Outcome, Terms
from benchmarks.soak.verdicts import digest_games, digest_tables, find_faults
from benchmarks.soak.watch import Watch
from tests.support.schedule import make_tournament, play_all
from tournament.models import Attempt, Game, GameRecord, Ladder, LadderRating, RatingEvent, Tournament
from tournament.services import keeper
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
    assert any(sentence in said for said in find_faults())


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
    assert [said.partition(" for ")[0] for said in watch.find_faults()] == ["a game without a sign of life"]


def test_runs_that_played_other_games_are_told_apart(played: Tournament) -> None:
    same = Outcome(Terms(6), 1.0, {}, {}, (), digest_games(), digest_tables())
    assert list(compare([same, same])) == []
    GameRecord.objects.filter(game=first()).delete()
    other = Outcome(Terms(6, "postgresql"), 1.0, {}, {}, (), digest_games(), digest_tables())
    assert [said.partition(" than ")[0] for said in compare([same, other])] == [
        "postgresql, soaked, 3 × 1 slots: other games"
    ]
