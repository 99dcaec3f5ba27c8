"""Version tests: pairs count once and in their order, and the verdict ends the test for good."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from django.utils import timezone
from pytest_django import Settings

from engines.arithmetic.statistics import Pentanomial
from engines.rules.base import Result
from tests.support.schedule import (
    Deal,
    ResultOf,
    all_drawn,
    ask,
    begin_game,
    candidate_wins,
    make_event,
    make_test,
    make_tournament,
    make_user,
    make_version,
    make_worker,
    open_door,
    play_all,
    play_short,
    record,
    record_all,
    void,
)
from tournament.caches import cache
from tournament.models import (
    Attempt,
    BotVersion,
    CountedPair,
    Game,
    LadderRating,
    LiveGame,
    Pairing,
    RatingEvent,
    Tournament,
    User,
    VersionTest,
)
from tournament.services.bots.activity import deactivate
from tournament.services.calendar import tend
from tournament.services.ladders.matchmaking import may_make_pair
from tournament.services.results import keeper
from tournament.services.results.withdrawal import withdraw
from tournament.services.schedule.tournaments import TournamentError, cancel, pause, set_priority
from tournament.services.version_tests import progress
from tournament.services.version_tests.progress import advance, stop_test, tend_tests
from workers.failures import MAX_VOIDS
from workers.jobs import GameJob, GameReport, JobGame

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
Outcome, State = VersionTest.Outcome, Tournament.State


@pytest.fixture
def owner(settings: Settings) -> User:
    settings.SLOTS = 1
    open_door()
    return make_user()


def baseline_wins(job: GameJob, game: JobGame) -> Result:
    won = candidate_wins(job, game)
    return Result.BLACK_WINS if won == Result.WHITE_WINS else Result.WHITE_WINS


def reports_of(jobs: list[GameJob], result_of: ResultOf) -> list[GameReport]:
    return [report for job in jobs for report in play_short(job, result_of)]


def play_out(deal: Deal, result_of: ResultOf) -> None:
    """Play until nothing is sent any more."""
    while jobs := deal():
        record_all(reports_of(jobs, result_of))
        tend_tests()


def state_of(tournament: Tournament) -> VersionTest:
    tournament.refresh_from_db()
    return VersionTest.objects.get(pk=tournament.pk)


def test_a_test_starts_with_a_few_pairs_and_makes_more_as_games_are_recorded(owner: User, deal: Deal) -> None:
    tournament = make_test(owner)
    assert (tournament.state, tournament.rated, tournament.name) == (
        State.RUNNING,
        False,
        "Ada v2 against v1",
    )
    assert tournament.games_total == 2 * progress.BATCHES_AHEAD
    jobs = deal()
    assert [job.engines[0].version for job in jobs] == ["2"] * len(jobs)
    assert [game.white for job in jobs for game in job.games] == [0, 1] * len(jobs)
    assert len({job.opening for job in jobs}) == len(jobs)
    record_all(reports_of(jobs[:1], all_drawn))
    assert tend_tests() == 1
    tournament.refresh_from_db()
    assert tournament.games_total == 2 * progress.BATCHES_AHEAD + 2
    assert tend_tests() == 0
    assert [pair.round for pair in Pairing.objects.order_by("id")] == [1, 2, 3]


def test_short_games_are_made_many_at_a_time(owner: User, deal: Deal) -> None:
    tournament = make_test(owner, elo1=5.0)
    record_all(reports_of(deal(), all_drawn))
    Game.objects.update(started_at=timezone.now(), finished_at=timezone.now())
    cache.clear()  # of durations
    tend_tests()
    assert tournament.games.filter(state=Game.State.WAITING).count() == 2 * progress.BATCHES_AHEAD * 64


@pytest.mark.parametrize(
    ("result_of", "outcome", "upper"), [(candidate_wins, "H1", True), (baseline_wins, "H0", False)]
)
def test_a_test_ends_by_itself_at_the_pair_that_reaches_a_bound(
    owner: User, deal: Deal, result_of: ResultOf, outcome: str, upper: bool
) -> None:
    tournament = make_test(owner)
    play_out(deal, result_of)
    test = state_of(tournament)
    assert (test.outcome, tournament.state, tournament.state_reason) == (outcome, State.FINISHED, "")
    assert tournament.finished_at is not None
    assert test.bounds[upper] == pytest.approx(2.9444 if upper else -2.9444, abs=1e-3)
    passed = test.ratio >= test.bounds[1] if upper else test.ratio <= test.bounds[0]
    assert passed
    counted = list(test.counted.order_by("number"))
    assert [pair.number for pair in counted] == list(range(1, test.looked_at + 1))
    assert [pair.half_points for pair in counted] == [4 if upper else 0] * len(counted)
    assert all(test.bounds[0] < pair.ratio < test.bounds[1] for pair in counted[:-1])
    assert counted[-1].ratio == test.ratio == test.question.ratio(test.pairs)
    assert (test.wins, test.draws, test.losses) == (
        (2 * len(counted), 0, 0) if upper else (0, 0, 2 * len(counted))
    )
    assert test.interval.elo > 0 if upper else test.interval.elo < 0


def test_games_that_are_not_recorded_at_the_verdict_are_cancelled_and_do_not_count(
    owner: User, deal: Deal, settings: Settings
) -> None:
    tournament = make_test(owner)
    late: list[GameReport] = []
    while state_of(tournament).outcome == Outcome.RUNNING:
        jobs = deal()
        under_way = jobs.pop() if len(jobs) > 1 else None
        if under_way is not None:
            begin_game(under_way.games[0])
            late += reports_of([under_way], baseline_wins)
        record_all(reports_of(jobs, candidate_wins))
        tend_tests()
        if under_way is not None and state_of(tournament).outcome == Outcome.RUNNING:
            record_all(reports_of([under_way], candidate_wins))
            late.clear()
    decided = state_of(tournament)
    assert late
    assert tournament.games_total == tournament.games_done == tournament.games.done().count()
    open_states = [Game.State.WAITING, Game.State.CLAIMED]
    assert not tournament.games.filter(state__in=open_states).exists()
    assert not Attempt.objects.filter(ended_at__isnull=True).exists()
    assert not LiveGame.objects.exists()
    answers = record_all(late)
    assert answers == [keeper.IgnoredReport("late")] * len(late)
    assert (tend_tests(), advance(tournament.pk)) == (0, False)
    after = state_of(tournament)
    assert [after.outcome, after.counts, after.ratio] == [decided.outcome, decided.counts, decided.ratio]


def test_a_pair_counts_once_however_often_its_games_are_reported_and_steps_are_taken(
    owner: User, deal: Deal
) -> None:
    tournament = make_test(owner)
    reports = reports_of(deal(), candidate_wins)
    for _ in range(3):
        record_all(reports)
        tend_tests()
        advance(tournament.pk)
    test = state_of(tournament)
    assert test.counts == [0, 0, 0, 0, progress.BATCHES_AHEAD]
    assert CountedPair.objects.count() == test.looked_at == progress.BATCHES_AHEAD
    assert tournament.games_done == 2 * progress.BATCHES_AHEAD


def test_a_kill_between_the_result_and_the_count_loses_no_pair(
    owner: User, deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    tournament = make_test(owner)
    record_all(reports_of(deal(), candidate_wins))
    with monkeypatch.context() as patched:
        patched.setattr(progress, "_make_pairs", _killed)
        assert tend_tests() == 0
    assert state_of(tournament).looked_at == 0
    assert tend_tests() == 1
    assert state_of(tournament).counts == [0, 0, 0, 0, progress.BATCHES_AHEAD]


def _killed(*_: object) -> None:
    raise MemoryError("killed")


def test_pairs_count_in_their_order_and_only_whole(owner: User, deal: Deal) -> None:
    tournament = make_test(owner)
    first, second = deal()
    record_all(reports_of([second], candidate_wins))
    tend_tests()
    assert state_of(tournament).looked_at == 0
    one, other = reports_of([first], baseline_wins)
    record(one)
    tend_tests()
    assert state_of(tournament).looked_at == 0
    record(other)
    tend_tests()
    test = state_of(tournament)
    assert [pair.half_points for pair in test.counted.order_by("number")] == [0, 4]


def drawn_at_random(seed: int) -> ResultOf:
    """Results that depend only on a game's number, so that they are the same in every order of play."""

    def result_of(job: GameJob, game: JobGame) -> Result:
        source = random.Random(f"{seed}/{game.key.partition('/')[2]}")
        won = source.choices([True, None, False], [5, 3, 3])[0]
        if won is None:
            return Result.DRAW
        return candidate_wins(job, game) if won else baseline_wins(job, game)

    return result_of


def play_shuffled(deal: Deal, seed: int, slots: int, settings: Settings) -> None:
    """Play with this many slots, whose reports arrive in a random order and several times."""
    settings.SLOTS = slots
    source = random.Random(seed)
    held: list[GameReport] = []
    while True:
        held += reports_of(deal(), drawn_at_random(7))
        if not held:
            return
        source.shuffle(held)
        cut = source.randint(1, len(held))
        record_all(held[:cut])
        record_all(held[: cut // 2])
        held = held[cut:]
        tend_tests()
        held = [one for one in held if Attempt.objects.filter(pk=one.attempt, ended_at=None).exists()]


def test_the_verdict_does_not_depend_on_the_workers_or_on_the_order_of_reports(
    owner: User, deal: Deal, settings: Settings
) -> None:
    versions = {"baseline": make_version("Ada", owner=owner), "candidate": make_version("Ada", owner=owner)}
    seen = set()
    for seed, slots in enumerate((1, 5)):
        tournament = make_test(owner, elo1=60.0, **versions)
        play_shuffled(deal, seed, slots, settings)
        test = state_of(tournament)
        assert test.outcome == "H1"
        points = tuple(test.counted.order_by("number").values_list("half_points", "ratio"))
        seen.add((test.outcome, test.looked_at, test.ratio, test.wins, test.draws, points))
    assert len(seen) == 1


def test_a_test_without_verdict_ends_at_its_largest_number_of_games(owner: User, deal: Deal) -> None:
    tournament = make_test(owner, most_games=11)
    play_out(deal, all_drawn)
    test = state_of(tournament)
    assert (test.outcome, test.looked_at, tournament.state) == (Outcome.LIMIT, 5, State.FINISHED)
    assert (tournament.games_done, tournament.games_total, test.most_games) == (10, 10, 10)
    assert test.pairs == Pentanomial(dd=5)


def test_an_owner_stops_a_test_and_its_counted_pairs_stay(owner: User, deal: Deal) -> None:
    tournament = make_test(owner)
    jobs = deal()
    record_all(reports_of(jobs[:1], candidate_wins))
    stop_test(tournament, "its owner stopped it")
    test = state_of(tournament)
    assert (test.outcome, tournament.state) == (Outcome.STOPPED, State.CANCELLED)
    assert (test.counts, tournament.state_reason) == ([0, 0, 0, 0, 1], "its owner stopped it")
    assert tournament.games_done == tournament.games_total == 2
    assert deal() == []
    with pytest.raises(TournamentError, match="'Ada v2 against v1' is over already"):
        stop_test(tournament, "again")


def test_a_verdict_that_is_reached_already_is_not_undone_by_a_stop(
    owner: User, deal: Deal, settings: Settings
) -> None:
    settings.SLOTS = 40
    tournament = make_test(owner, elo1=200.0)
    record_all(reports_of(deal(), candidate_wins))
    with pytest.raises(TournamentError, match="is over already"):
        stop_test(tournament, "too late")
    test = state_of(tournament)
    assert (test.outcome, tournament.state, tournament.state_reason) == (Outcome.H1, State.FINISHED, "")
    assert test.looked_at < tournament.games_done // 2


def give_up(job: GameJob, deal: Deal) -> None:
    """Report a job's first game as void until it is given up, and its second as drawn."""
    first, *rest = reports_of([job], all_drawn)
    record_all(rest)
    record(void(first))
    for _ in range(MAX_VOIDS - 1):
        again = next(one for one in deal() if one.games[0].key == first.key)
        record(void(next(play_all(again))))
    assert Game.objects.get(key=first.key).state == Game.State.HALTED


def test_a_pair_that_cannot_be_played_is_left_out(owner: User, deal: Deal) -> None:
    tournament = make_test(owner)
    first, second = deal()
    record_all(reports_of([second], candidate_wins))
    give_up(first, deal)
    tend_tests()
    test = state_of(tournament)
    assert (test.looked_at, test.left_out, test.counts) == (2, 1, [0, 0, 0, 0, 1])
    assert (test.wins, test.draws, test.losses) == (2, 0, 0)
    assert list(test.counted.values_list("number", flat=True)) == [2]


def test_a_test_whose_pairs_cannot_be_played_is_stopped(
    owner: User, deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "MAX_LEFT_OUT", 2)
    tournament = make_test(owner)
    for job in deal():
        give_up(job, deal)
    tend_tests()
    assert state_of(tournament).outcome == Outcome.STOPPED
    assert tournament.state_reason == "2 pairs could not be played"


def test_a_test_ends_when_one_of_its_versions_is_withdrawn(owner: User, deal: Deal) -> None:
    tournament = make_test(owner)
    withdraw(BotVersion.objects.get(number=2), "it lost 5 games in a row")
    record_all(reports_of(deal()[:1], baseline_wins))
    tend_tests()
    assert state_of(tournament).outcome == Outcome.STOPPED
    assert (tournament.state_reason, state_of(tournament).counts) == ("Ada v2 is withdrawn", [1, 0, 0, 0, 0])


def test_no_rating_changes(owner: User, deal: Deal) -> None:
    make_test(owner)
    record_all(reports_of(deal(), candidate_wins))
    assert Game.objects.done().exists()
    assert not Game.objects.filter(rated=True).exists()
    assert not LadderRating.objects.exists()
    assert not RatingEvent.objects.exists()
    assert '[Rated "no"]' in Game.objects.done().earliest("id").record.text


def test_one_faulty_test_does_not_stop_the_others(
    owner: User, deal: Deal, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.SLOTS = 4
    faulty, sound = make_test(owner), make_test(owner, seed=2)
    record_all(reports_of(deal(), candidate_wins))
    Tournament.objects.filter(pk=faulty.pk).update(ladders=[])
    assert tend_tests() == 1
    assert state_of(sound).looked_at > 0


# The lowest priority


def names(jobs: list[GameJob]) -> list[str]:
    return [job.games[0].key.split("/")[0] for job in jobs]


def test_games_of_a_test_come_after_those_of_every_tournament(owner: User, deal: Deal) -> None:
    make_test(owner, seed=1)
    make_test(owner, seed=2)
    begun = deal()
    assert names(begun) == ["ada-v2-against-v1", "ada-v4-against-v3"] * 2
    record_all(reports_of(begun, all_drawn))
    tournament = make_tournament(pairs=3)
    set_priority(tournament, -100)
    tend_tests()
    assert names(deal())[:3] == ["test-match"] * 3


def test_a_test_plays_between_the_rounds_of_a_tournament(owner: User, deal: Deal) -> None:
    make_event("swiss", bots=4, rounds=2)
    record_all(reports_of(deal(), all_drawn))
    test = make_test(owner)
    begun = ask()
    assert begun is not None
    assert names(list(begun.jobs)) == [test.slug]
    tend()
    assert names(deal())[:2] == ["test-event"] * 2


def test_a_game_of_a_test_that_is_being_played_is_not_interrupted(owner: User, deal: Deal) -> None:
    make_test(owner)
    begun, _ = deal()
    begin_game(begun.games[0])
    make_tournament(pairs=5)
    assert set(names(deal())) == {"test-match"}
    answers = record_all(reports_of([begun], candidate_wins))
    assert all(isinstance(answer, keeper.Recorded) for answer in answers)


def test_ladder_games_are_made_and_sent_before_those_of_a_test(
    owner: User, deal: Deal, settings: Settings
) -> None:
    settings.LADDER_GAMES = 120
    make_worker(slots=1)
    make_version("Bob", owner=make_user("bob"))
    for seed in (1, 2):
        make_test(owner, seed=seed)
    record_all(reports_of(deal(), all_drawn))
    assert may_make_pair(-100)
    tend()
    assert names(deal())[0] == "ladder-duploline"


def test_a_test_plays_while_a_ladder_has_no_pair_due(owner: User, deal: Deal, settings: Settings) -> None:
    settings.LADDER_GAMES = 120
    make_worker(slots=1)
    tournament = make_test(owner)
    for version in BotVersion.objects.all():
        deactivate(version)
    tend()
    assert set(names(deal())) == {tournament.slug}


def test_neither_priority_nor_course_can_be_changed_otherwise(owner: User) -> None:
    tournament = make_test(owner)
    changes: list[Callable[[Tournament], None]] = [lambda one: set_priority(one, 5), pause, cancel]
    for change in changes:
        with pytest.raises(TournamentError, match="is a version test, which can only be stopped"):
            change(tournament)
    assert state_of(tournament).outcome == Outcome.RUNNING
    assert tournament.priority == -101
