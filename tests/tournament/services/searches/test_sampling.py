"""Sampling: which versions are asked which positions, once, and when staff is told of two that are alike."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from engines.hard_positions import HARD_POSITIONS
from engines.protocol import RESIGN
from engines.rules.registry import GAMES
from tests.support.door import DoorWorker
from tests.support.rated_games import play_rated
from tests.support.sampled import store_samples
from tests.support.schedule import make_user, make_version, open_door
from tournament.models import (
    ActiveVersion,
    BotSearch,
    BotVersion,
    Game,
    GameRecord,
    LadderRating,
    Notice,
    SampledMoves,
)
from tournament.services.pruning import prune
from tournament.services.searches import sampling, similarity
from tournament.services.searches.sampling import AT_ONCE, MS, sample_moves
from tournament.services.work.analyses import positions_of
from workers.jobs import Evaluation, SearchNews, Work

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
LADDER = "dogon-kulei"
NOW = timezone.now()


@pytest.fixture
def bots(monkeypatch: pytest.MonkeyPatch) -> list[BotVersion]:
    """Four bots of four owners with settled ratings and some recorded games."""
    monkeypatch.setattr(sampling, "LEAST_GAMES", 1)
    names = ("Ada", "Bob", "Cyd", "Dan")
    versions = [make_version(name, owner=make_user(name), games=[LADDER]) for name in names]
    play_rated(make_user("olga"), "Spring", versions, pairs=2, ladders=[LADDER])
    LadderRating.objects.update(sigma=1.0)
    return versions


def answer_all(choose: dict[str, str] | None = None) -> int:
    """Have the site sample until nothing is left; returns how many searches it asked for.

    Bots choose the first legal move, those of ``choose`` as the bot that they name: the last legal one.
    """
    asked = 0
    for _ in range(1_000):
        sample_moves(NOW)
        waiting = list(BotSearch.objects.of_site().filter(ended_at=None).select_related("version__bot"))
        assert len(waiting) <= AT_ONCE
        if not waiting and not SampledMoves.objects.filter(completed_at=None).exists():
            return asked
        asked += len(waiting)
        for search in waiting:
            answer(search, is_last=search.version.bot.name in (choose or ()))
    raise AssertionError("it never ends")


def answer(search: BotSearch, *, is_last: bool = False) -> None:
    positions = positions_of(search)
    for ply in search.plies:
        moves = list(positions[ply].legal_moves())
        assert len(moves) > 1, "only choices tell something"
        search.found[str(ply)] = [moves[-1 if is_last else 0], "+0.10/3 0.100s"]
    search.ended_at = NOW
    search.save()


def test_every_version_answers_the_same_positions_once(bots: list[BotVersion]) -> None:
    asked = answer_all()
    rows = list(SampledMoves.objects.order_by("pk"))
    assert [row.version_id for row in rows] == [one.pk for one in bots]
    assert len({tuple(row.moves) for row in rows}) == 1
    assert all(all(row.moves.values()) for row in rows)
    names = list(rows[0].moves)
    games = {name.split()[0] for name in names} - {"hard"}
    assert len(games) == sampling.GAMES < Game.objects.filter(rated=True).count()
    assert 0 < sum(name.startswith("hard ") for name in names) <= len(HARD_POSITIONS[LADDER])
    lines = len(games) + sum(name.startswith("hard ") for name in names)
    assert asked == lines * len(bots), "each line is asked once of each version"
    assert not BotSearch.objects.exists()
    sample_moves(NOW)
    assert not BotSearch.objects.exists()


def test_a_later_version_gets_the_positions_of_the_first(bots: list[BotVersion]) -> None:
    answer_all()
    play_rated(make_user("otto"), "Autumn", bots, pairs=1, ladders=[LADDER])
    new = make_version("Eve", owner=make_user("Eve"), games=[LADDER])
    LadderRating.objects.create(ladder_id=LADDER, version=new, mu=25, sigma=1, conservative=22)
    answer_all()
    first, last = SampledMoves.objects.order_by("pk")[0], SampledMoves.objects.get(version=new)
    assert list(first.moves) == list(last.moves)


@pytest.mark.parametrize("reason", ["provisional", "switched off", "withdrawn", "few games"])
def test_what_does_not_play_and_has_no_settled_rating_is_not_asked(
    bots: list[BotVersion], monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    if reason == "provisional":
        LadderRating.objects.update(sigma=8, games=3)
    elif reason == "switched off":
        ActiveVersion.objects.update(enabled=False)
    elif reason == "withdrawn":
        BotVersion.objects.update(state=BotVersion.State.WITHDRAWN)
    else:
        monkeypatch.setattr(sampling, "LEAST_GAMES", 1_000)
    sample_moves(NOW)
    assert not SampledMoves.objects.exists()


def test_a_killed_or_repeated_call_asks_nothing_twice(bots: list[BotVersion]) -> None:
    for _ in range(AT_ONCE + 1):
        sample_moves(NOW)
    before = list(BotSearch.objects.order_by("asker").values_list("asker", "content"))
    assert len(before) == AT_ONCE
    sample_moves(NOW)
    assert list(BotSearch.objects.order_by("asker").values_list("asker", "content")) == before


def test_no_answer_is_no_move_and_is_not_asked_again(bots: list[BotVersion]) -> None:
    sample_moves(NOW)
    sample_moves(NOW)
    search = BotSearch.objects.get(version=bots[0])
    search.found[str(search.plies[0])] = [RESIGN, ""]
    search.why, search.ended_at = "It crashed.", NOW
    search.save()
    sample_moves(NOW)
    row = SampledMoves.objects.get(version=bots[0])
    assert not any(move for name, move in row.moves.items() if name.startswith(search.content))
    assert "" in row.moves.values()
    assert BotSearch.objects.get(version=bots[0]).content != search.content


def test_a_game_whose_record_is_gone_is_passed_over(bots: list[BotVersion]) -> None:
    sample_moves(NOW)
    GameRecord.objects.all().delete()
    answer_all()
    moves = SampledMoves.objects.get(version=bots[0]).moves
    assert {bool(move) for name, move in moves.items() if not name.startswith("hard ")} == {False}


def test_slots_evaluate_the_lines_in_one_job_each(bots: list[BotVersion]) -> None:
    open_door()
    worker = DoorWorker(takes=(Work.GAMES, Work.ANALYSIS))
    worker.beat()
    SampledMoves.objects.create(
        ladder_id=LADDER,
        version=bots[0],
        moves=dict.fromkeys(one for one in sampling.draw_positions(LADDER) if not one.startswith("hard")),
    )
    sample_moves(NOW)
    batch = worker.ask()
    assert batch is not None
    job = batch.search
    assert job is not None
    assert (job.ms, len(job.plies) > 1, job.engine.name) == (MS, True, "Ada")
    found = tuple(Evaluation(ply, "a1+", "") for ply in job.plies)
    worker.post(job.search, search=SearchNews(job.search, worker.name, found, True))
    sample_moves(NOW)
    moves = SampledMoves.objects.get(version=bots[0]).moves
    assert sum(move == "a1+" for move in moves.values()) == len(job.plies)


def test_answers_are_kept_and_what_is_asked_is_not_pruned_before_its_end(bots: list[BotVersion]) -> None:
    answer_all()
    prune(NOW + timedelta(days=400))
    assert SampledMoves.objects.count() == len(bots)


# Telling staff


@pytest.fixture
def sampled(db: None) -> list[BotVersion]:
    """Two bots that choose alike, and seven that do not."""
    names = [f"Bot {number}" for number in range(9)]
    versions = [make_version(name, owner=make_user(name), games=[LADDER]) for name in names]
    store_samples(LADDER, versions)
    return versions


def test_staff_is_told_once_of_a_striking_pair_and_its_owners_are_not(
    sampled: list[BotVersion],
) -> None:
    stan = make_user("stan", staff=True)
    one, other, *_ = sampled
    for _ in range(2):
        similarity.tell_staff(LADDER, NOW)
        (notice,) = Notice.objects.all()
        assert notice.user == stan
        assert notice.path == f"/ladders/{LADDER}/similarity/"
        assert str(one.bot) in notice.text
        assert str(other.bot) in notice.text
        assert "the same move in 100 % of 100 positions; 50 % are expected" in notice.text
    Notice.objects.all().delete()
    similarity.tell_staff(LADDER, NOW)
    assert not Notice.objects.exists()


def test_the_completion_of_answers_tells_staff(
    bots: list[BotVersion], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(sampling, "tell_staff", lambda ladder, now: told.append(ladder))
    answer_all()
    assert told == [LADDER] * len(bots)


def test_a_version_that_no_longer_plays_is_not_compared(sampled: list[BotVersion]) -> None:
    one, *_ = sampled
    before = similarity.similarities(LADDER)
    ActiveVersion.objects.filter(version=one).update(enabled=False)
    after = similarity.similarities(LADDER)
    assert len(before) == 9 * 8 / 2
    assert len(after) == 8 * 7 / 2
    assert one.pk not in {pk for pair in after for pk in (pair.one, pair.other)}


def test_every_ladder_has_hard_positions_with_a_choice() -> None:
    for code in GAMES:
        assert len(sampling._hard_positions(code)) >= 3
