"""The record keeper stores a result once, for any sequence of reports."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import replace
from io import StringIO
from typing import Any

import msgspec
import pytest
import redis
from django.db import DataError, IntegrityError, OperationalError
from django.utils import timezone

from engines.records import Record, read_records, verify_record
from engines.rules.base import Result
from tests.support.brokers import announced
from tests.support.schedule import (
    Deal,
    foreign,
    forfeit,
    game_of,
    make_tournament,
    make_user,
    make_version,
    play,
    play_all,
    post,
    record,
    record_all,
    return_games,
    void,
)
from tournament import models
from tournament.models import (
    Attempt,
    Game,
    GameLog,
    GameRecord,
    InboxReport,
    Ladder,
    LadderRating,
    RatingEvent,
    Tournament,
)
from tournament.queues import ANY_GAME, game_topic, ladder_topic, tournament_topic
from tournament.services.results import keeper, storing
from tournament.services.results.effects import Arrival
from tournament.services.results.rebuilding import rebuild
from tournament.services.work.attempts import end_attempt
from workers.failures import MAX_VOIDS
from workers.jobs import BOTH_UNABLE, GameReport
from workers.messages import decode

pytestmark = pytest.mark.django_db


def counted(reason: str) -> int:
    return models.Ignored.objects.filter(reason=reason).values_list("count", flat=True).first() or 0


def published(game: Game) -> Record:
    (record,) = read_records(StringIO(game.record.text), "test")
    assert isinstance(record, Record)
    return record


def test_a_report_becomes_a_result_a_record_logs_and_ratings(deal: Deal) -> None:
    make_tournament(opening_plies=2)
    (job,) = deal()
    report = play(job, job.games[0])
    told = record(report)
    game = game_of(report)
    assert told == keeper.Recorded(game.pk, 1)
    assert (game.state, game.result, game.plies) == (Game.State.DONE, report.result, len(report.moves))
    assert (game.sequence, game.rated, game.fault) == (1, True, "none")
    assert Attempt.objects.get(pk=report.attempt).end == Attempt.End.RECORDED
    assert RatingEvent.objects.filter(game=game).count() == 2
    assert Ladder.objects.get(pk="duploline").sequence == 1
    assert {log.side: log.stderr for log in GameLog.objects.all()} == {
        "white": "white says\\x00 hi",
        "black": "black says hi",
    }


def test_a_result_is_announced_to_the_pages_of_its_game_tournament_and_ladder(
    deal: Deal, real_redis: redis.Redis
) -> None:
    tournament = make_tournament()
    (job,) = deal()
    reports = [play(job, job.games[0]), void(play(job, job.games[1]), "no sandbox")]
    with announced(real_redis) as topics:
        record_all(reports)
    games = {game_topic(game_of(report).pk) for report in reports}
    assert topics == {ANY_GAME, tournament_topic(tournament.pk), ladder_topic("duploline"), *games}
    with announced(real_redis) as topics:
        record_all([foreign(reports[0])])
    assert topics == set()


def test_the_published_record_is_true_and_complete(deal: Deal) -> None:
    make_tournament(opening_plies=2)
    (job,) = deal()
    report = play(job, job.games[1])
    record(report)
    known = published(game_of(report))
    assert verify_record(known) == []
    expected = {
        "White": "Bot 2",
        "Black": "Bot 1",
        "WhiteVersion": "1",
        "GameId": "test-match/1/1/2",
        "Event": "Test match",
        "Round": "1",
        "OpeningPlies": "2",
        "TimeControl": "1+0.1",
        "Date": "2026.01.02",
        "Rated": "",
    }
    assert {name: known.header(name) for name in expected} == expected


def test_a_record_says_how_its_clocks_ran(deal: Deal) -> None:
    make_tournament(opening_plies=2)
    (job,) = deal()
    shown = {}
    for game, clock in zip(job.games, ("run delay", "moonshine"), strict=True):
        report = decode(GameReport, msgspec.json.encode(replace(play(job, game), clock=clock)))
        record(report)
        shown[clock] = published(game_of(report)).header("Clock")
    assert shown == {"run delay": "run delay", "moonshine": ""}


def test_a_repeat_changes_nothing_and_is_counted(deal: Deal) -> None:
    make_tournament()
    (job,) = deal()
    report = play(job, job.games[0])
    record(report)
    before = list(LadderRating.objects.values()), list(Game.objects.values())
    assert record(report) == keeper.IgnoredReport("repeat")
    other = replace(play(job, job.games[0], seed=1), attempt=report.attempt)
    assert record(other) == keeper.IgnoredReport("repeat")
    assert (list(LadderRating.objects.values()), list(Game.objects.values())) == before
    assert counted("repeat") == 2


def test_a_late_report_of_an_earlier_attempt_is_ignored(deal: Deal) -> None:
    make_tournament()
    (job,) = deal()
    early = play(job, job.games[0])
    return_games(early)
    (again,) = deal()
    assert record(early) == keeper.IgnoredReport("late")
    assert game_of(early).state == Game.State.CLAIMED
    assert isinstance(record(play(again, again.games[0])), keeper.Recorded)
    assert record(early) == keeper.IgnoredReport("late")
    assert counted("late") == 2


def standing_rows() -> list[tuple[object, ...]]:
    return list(
        LadderRating.objects.order_by("version").values_list("version__bot__name", "mu", "sigma", "games")
    )


def test_games_reported_together_are_rated_in_their_order_like_games_reported_alone(
    deal: Deal, settings: Any
) -> None:
    settings.SLOTS = 50
    for name in ("Together", "Apart"):
        versions = [make_version(f"{name} {n}") for n in (1, 2, 3)]
        make_tournament(versions=versions, pairs=3, ladders=["duploline"], name=name)
    jobs = deal()
    reports = [report for job in jobs for report in play_all(job)]
    together = [report for report in reports if report.key.startswith("together")]
    apart = [report for report in reports if report.key.startswith("apart")]
    told = record_all(together)
    assert [answer.sequence for answer in told if isinstance(answer, keeper.Recorded)] == [*range(1, 19)]
    one_by_one = [record(report) for report in apart]
    assert all(isinstance(answer, keeper.Recorded) for answer in one_by_one)
    assert len(rows := standing_rows()) == 6
    assert rebuild("duploline")[0].changed is False
    assert standing_rows() == rows


def test_of_reports_the_wrong_the_void_the_late_and_the_repeated_cost_the_others_nothing(deal: Deal) -> None:
    make_tournament(bots=3, pairs=2)
    reports = [report for job in deal() for report in play_all(job)]
    wrong = replace(reports[1], result=Result("1-0" if reports[1].result == "0-1" else "0-1"))
    return_games(reports[3])
    message = [reports[0], wrong, void(reports[2]), reports[3], foreign(reports[4]), reports[5], reports[0]]
    told = record_all(message)
    assert told[0] == keeper.Recorded(game_of(reports[0]).pk, 1)
    assert isinstance(told[1], keeper.Voided)
    assert told[2] == keeper.Voided("the disk is full")
    assert told[3:5] == [keeper.IgnoredReport("late"), keeper.IgnoredReport("foreign")]
    assert told[5] == keeper.Recorded(game_of(reports[5]).pk, 2)
    assert told[6] == keeper.IgnoredReport("repeat")
    assert Tournament.objects.get().games_done == 2


def test_a_result_that_the_database_refuses_costs_the_others_nothing(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_tournament(bots=3)
    reports = [report for job in deal() for report in play_all(job)]
    refused, store_all = game_of(reports[2]).pk, storing.store_all

    def store(arrivals: Sequence[Arrival], now: datetime.datetime) -> dict[int, int]:
        if refused in [arrival.game.pk for arrival in arrivals]:
            raise IntegrityError("no")
        return store_all(arrivals, now)

    monkeypatch.setattr(keeper, "store_all", store)
    told = record_all(reports)
    assert [n for n, answer in enumerate(told) if not isinstance(answer, keeper.Recorded)] == [2]
    assert told[2] == keeper.Voided(keeper.NOT_STORED)
    assert (game_of(reports[2]).state, game_of(reports[2]).voids) == (Game.State.WAITING, 1)


def test_of_two_games_reported_together_that_repeat_each_other_the_first_is_rated(deal: Deal) -> None:
    make_tournament(pairs=2)
    first, *others = [report for job in deal() for report in play_all(job)]
    third = next(report for report in others if game_of(report).white_id == game_of(first).white_id)
    same = replace(first, key=third.key, attempt=third.attempt)
    record_all([first, same])
    assert [game_of(report).rated for report in (first, third)] == [True, False]
    assert [published(game_of(report)).header("Rated") for report in (first, third)] == ["", "no"]


@pytest.mark.parametrize("attempt", ["", "no uuid", "00000000-0000-0000-0000-000000000000"])
def test_a_report_nobody_asked_for_is_ignored(deal: Deal, attempt: str) -> None:
    make_tournament()
    (job,) = deal()
    report = play(job, job.games[0])
    assert record(replace(report, attempt=attempt)) == keeper.IgnoredReport("foreign")
    assert record(foreign(report)) == keeper.IgnoredReport("foreign")
    assert record(replace(report, key=job.games[1].key)) == keeper.IgnoredReport("foreign")
    assert game_of(report).state == Game.State.CLAIMED


WRONG: dict[str, Callable[[GameReport], GameReport]] = {
    "another result": lambda r: replace(r, result=Result("1-0" if r.result == "0-1" else "0-1")),
    "no result": lambda r: replace(r, result=Result.UNDECIDED),
    "a move too few": lambda r: replace(r, moves=r.moves[:-1]),
    "a move too many": lambda r: replace(r, moves=(*r.moves, ("Da1", ""))),
    "an illegal move": lambda r: replace(r, moves=(("Zz9", ""), *r.moves[1:])),
    "no move at all": lambda r: replace(r, moves=()),
    "a strange word for a move": lambda r: replace(r, moves=(("a b\n[X]", ""), *r.moves[1:])),
    "an unknown termination": lambda r: replace(r, termination="boredom"),
    "another termination": lambda r: replace(r, termination="ply limit"),
    "an unknown fault": lambda r: replace(r, fault="green"),
    "a fault in a fair end": lambda r: replace(r, fault="white"),
    "a score without seeds": lambda r: replace(r, white_score=3),
    "a time that is none": lambda r: replace(r, started="yesterday"),
    "a time before time": lambda r: replace(r, finished="0001-01-01T00:00:00+14:00"),
    "another opening": lambda r: replace(r, moves=tuple((token, "") for token, _ in r.moves)),
}


@pytest.mark.parametrize("change", WRONG)
def test_a_wrong_report_is_a_void_with_evidence(deal: Deal, change: str) -> None:
    make_tournament(opening_plies=1)
    (job,) = deal()
    report = WRONG[change](play(job, job.games[0]))
    told = record(report)
    assert isinstance(told, keeper.Voided)
    assert told.evidence.startswith("the worker's report was wrong: ")
    game = game_of(report)
    assert (game.state, game.voids, game.result) == (Game.State.WAITING, 1, None)
    assert Attempt.objects.get(pk=report.attempt).evidence == told.evidence
    assert not GameRecord.objects.exists()


def test_a_void_is_played_again_and_halts_after_the_third(deal: Deal) -> None:
    tournament = make_tournament()
    for count in (1, 2, 3):
        (job,) = deal()
        report = void(play(job, job.games[0]))
        assert record(report) == keeper.Voided("the disk is full")
        if count == 1:
            record(play(job, job.games[1]))
        assert game_of(report).voids == count
    game = game_of(report)
    assert game.state == Game.State.HALTED
    assert game.evidence == "given up after 3 attempts without a result, the last: the disk is full"
    tournament.refresh_from_db()
    assert (tournament.state, tournament.games_done) == (Tournament.State.HALTED, 2)


def test_two_engines_that_cannot_start_are_tried_again_like_any_void(deal: Deal) -> None:
    """The machine may have stood still; a version that cannot start beside itself has a test of its own."""
    make_tournament()
    (job,) = deal()
    report = void(play(job, job.games[0]), f"{BOTH_UNABLE}: no such file")
    record(report)
    game = game_of(report)
    assert (game.state, game.voids) == (Game.State.WAITING, 1)


def test_a_game_that_halts_keeps_what_its_engines_said(deal: Deal) -> None:
    make_tournament()
    for _ in range(MAX_VOIDS):
        assert not GameLog.objects.exists()  # it is played again
        (job,) = deal()
        report = void(play(job, job.games[0]), f"{BOTH_UNABLE}: exit code 1")
        record(report)
        return_games(job.games[1])
    assert set(GameLog.objects.filter(game=game_of(report)).values_list("side", flat=True)) == {
        "white",
        "black",
    }
    assert ["says" in log.stderr for log in GameLog.objects.all()] == [True, True]


def test_a_forfeit_counts_and_keeps_its_evidence(deal: Deal) -> None:
    make_tournament(opening_plies=1)
    (job,) = deal()
    report = forfeit(play(job, job.games[1]), "no answer\nin 1.05 s")
    assert isinstance(record(report), keeper.Voided)  # it was Black's turn
    (job,) = deal()
    report = replace(forfeit(play(job, job.games[0])), fault="black", result=Result.WHITE_WINS)
    record(replace(report, evidence="no answer\nin 1.05 s"))
    game = game_of(report)
    assert (game.termination, game.fault, game.result) == ("time forfeit", "black", "1-0")
    assert (game.evidence, game.rated) == ("no answer in 1.05 s", True)


def test_an_exact_repeat_is_recorded_but_not_rated(deal: Deal) -> None:
    make_tournament(pairs=2)
    one, two = deal()
    first = play(one, one.games[0])
    (game,) = (g for g in two.games if g.white == 1)  # the cycle swaps colours
    again = replace(first, key=game.key, attempt=game.attempt)
    record(first)
    record(again)
    assert (game_of(first).rated, game_of(again).rated) == (True, False)
    again_record = published(game_of(again))
    assert (again_record.header("Rated"), again_record.header("Unrated")) == ("no", "repeat")
    assert LadderRating.objects.first().games == 1  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("case", "why"),
    [("unrated tournament", "event"), ("one owner", "owner"), ("two versions of one bot", "bot")],
)
def test_some_games_are_not_rated(deal: Deal, case: str, why: str) -> None:
    owner = make_user() if case == "one owner" else None
    other = "Ada" if case == "two versions of one bot" else "Bob"
    versions = [make_version("Ada", owner=owner), make_version(other, owner=owner)]
    make_tournament(versions=versions, rated=case != "unrated tournament")
    (job,) = deal()
    report = play(job, job.games[0])
    record(report)
    assert not game_of(report).rated
    assert not RatingEvent.objects.exists()
    written = published(game_of(report))
    assert (written.header("Rated"), written.header("Unrated")) == ("no", why)


def test_the_sites_own_bots_are_rated_against_each_other(deal: Deal) -> None:
    make_tournament(versions=[make_version("Ada", owner=None), make_version("Bob", owner=None)])
    (job,) = deal()
    record(play(job, job.games[0]))
    assert LadderRating.objects.count() == 2


# The inbox


def put_in(*reports: GameReport) -> None:
    """Have the slots that took these games post their reports."""
    for report in reports:
        post(str(Attempt.objects.get(pk=report.attempt).job), reports=(report,))


def test_the_inbox_is_handled_in_its_order_and_is_empty_then(deal: Deal) -> None:
    make_tournament(bots=3)
    reports = [report for job in deal() for report in play_all(job)]
    put_in(*reversed(reports))
    assert not keeper.record_inbox(10)
    assert [game_of(report).sequence for report in reports] == [*range(len(reports), 0, -1)]
    assert not InboxReport.objects.exists()


def test_the_inbox_is_handled_for_a_time_and_says_whether_reports_are_left(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "AT_ONCE", 2)
    make_tournament(bots=3)
    put_in(*(report for job in deal() for report in play_all(job)))
    for left in (4, 2, 0):
        assert keeper.record_inbox(0) is (left > 0)
        assert InboxReport.objects.count() == left


def test_reports_whose_attempts_have_ended_meanwhile_leave_the_inbox(deal: Deal) -> None:
    make_tournament()
    (job,) = deal()
    first, second = play_all(job)
    put_in(first, second)
    end_attempt(Attempt.objects.get(pk=first.attempt), Attempt.End.CANCELLED, timezone.now())
    keeper.record_inbox(10)
    assert not InboxReport.objects.exists()
    assert counted("late") == 1
    assert (game_of(first).state, game_of(second).state) == (Game.State.WAITING, Game.State.DONE)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"key": 1}', "null"])
def test_a_report_that_cannot_be_read_ends_its_attempt_and_blocks_nothing(deal: Deal, content: str) -> None:
    make_tournament()
    (job,) = deal()
    first, second = play_all(job)
    put_in(first, second)
    InboxReport.objects.filter(attempt__pk=first.attempt).update(content=content)
    assert not keeper.record_inbox(10)
    attempt = Attempt.objects.get(pk=first.attempt)
    assert attempt.end == "void"
    assert attempt.evidence.startswith(keeper.NOT_STORED)
    assert (game_of(first).state, game_of(second).state) == (Game.State.WAITING, Game.State.DONE)
    assert not InboxReport.objects.exists()


@pytest.mark.parametrize("error", [IntegrityError("no"), ValueError("no"), ZeroDivisionError()])
def test_a_report_that_cannot_be_stored_halts_its_game_after_the_third_and_blocks_nothing(
    deal: Deal, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_tournament()
    store_all = storing.store_all
    keys: list[str] = []

    def store(arrivals: Sequence[Arrival], now: datetime.datetime) -> dict[int, int]:
        if keys[0] in [arrival.game.key for arrival in arrivals]:
            raise error
        return store_all(arrivals, now)

    monkeypatch.setattr(keeper, "store_all", store)
    for _ in range(MAX_VOIDS):
        (job,) = deal()
        reports = [play(job, game) for game in job.games]
        keys.append(reports[0].key)
        put_in(*reports)
        assert not keeper.record_inbox(10)
    assert not InboxReport.objects.exists()
    assert sorted(Game.objects.values_list("state", flat=True)) == ["done", "halted"]
    assert keeper.NOT_STORED in Game.objects.get(state="halted").evidence


def test_while_the_database_is_away_the_inbox_stays_as_it_is(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise OperationalError("the server closed the connection")

    make_tournament()
    (job,) = deal()
    put_in(*play_all(job))
    with monkeypatch.context() as patch:
        patch.setattr(keeper, "store_all", away)
        with pytest.raises(OperationalError):
            keeper.record_inbox(10)
    assert InboxReport.objects.count() == 2
    assert not keeper.record_inbox(10)
    assert set(Game.objects.values_list("state", flat=True)) == {"done"}


@pytest.mark.parametrize("is_refused", [False, True], ids=["of a slot", "of a result that was refused"])
@pytest.mark.parametrize("step", ["judge", "halt_after_failures", "store_logs"])
def test_a_void_is_judged_though_the_keeper_was_killed_between_two_steps(
    deal: Deal, step: str, is_refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    def refuse(*_: object) -> None:
        raise DataError("a number is out of range")

    make_tournament()
    with monkeypatch.context() as patch:
        if is_refused:
            patch.setattr(keeper, "store_all", refuse)
        for number in range(1, MAX_VOIDS + 1):
            (job,) = deal()
            played = play(job, job.games[0])
            report = played if is_refused else void(played)
            put_in(report)
            if number < MAX_VOIDS:
                return_games(job.games[1])
                keeper.record_inbox(10)
        patch.setattr(keeper, step, die)
        with pytest.raises(KeyboardInterrupt):
            keeper.record_inbox(10)
    assert InboxReport.objects.count() == 1
    keeper.record_inbox(10)
    assert not InboxReport.objects.exists()
    game = game_of(report)
    assert (game.state, game.voids) == (Game.State.HALTED, MAX_VOIDS)
    assert GameLog.objects.filter(game=game).count() == 2
