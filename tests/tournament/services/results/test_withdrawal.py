"""What happens to the games of a version that is withdrawn."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from tests.support.schedule import (
    Deal,
    OnCommit,
    all_drawn,
    begin_game,
    forfeit,
    make_event,
    make_test,
    make_user,
    make_version,
    play_short,
    post,
    record_short,
)
from tournament.models import Attempt, BotVersion, Game, Tournament, VersionTest
from tournament.services.calendar import tend
from tournament.services.results import keeper
from tournament.services.results.withdrawal import reinstate, withdraw
from tournament.services.schedule import tournaments
from tournament.services.schedule.pairings import entered_versions
from tournament.services.schedule.tables import tables_of
from tournament.services.schedule.tournaments import extend
from tournament.services.schedule.walkovers import give_to_opponents

pytestmark = pytest.mark.django_db
State = Tournament.State


def games_of(version: BotVersion) -> set[tuple[str, str, str]]:
    """State, fault and evidence of its games."""
    games = [*version.games_as_white.all(), *version.games_as_black.all()]
    return {(game.state, game.fault, game.evidence) for game in games}


def points(event: Tournament) -> dict[str, float]:
    (table,) = tables_of(event, entered_versions(event))
    return {str(table.versions[row.player]): row.points for row in table.crosstable.rows}


def test_the_games_of_a_withdrawn_version_stop_and_its_opponents_win_them(
    deal: Deal, on_commit: OnCommit
) -> None:
    event = make_event("round-robin", bots=3)
    ada, bob, cy = entered_versions(event)
    jobs = deal()
    for job in jobs:
        begin_game(job.games[0])
    assert withdraw(ada, "it lost 5 games in a row")
    with on_commit():
        tend()
    hers = [job for job in jobs if str(ada.bot) in {engine.name for engine in job.engines}]
    for job in jobs:
        assert set(post(job.job).stop) == ({game.attempt for game in job.games} if job in hers else set())
    assert games_of(ada) == {("halted", side, "Bot 1 v1 is withdrawn") for side in ("white", "black")}
    assert not Attempt.objects.filter(game__white=ada, ended_at=None).exists()
    record_short([*jobs, *deal()], all_drawn)
    event.refresh_from_db()
    assert (event.state, event.games_done) == (State.FINISHED, 6)
    assert points(event) == {str(ada): 0, str(bob): 3, str(cy): 3}
    assert Game.objects.done().count() == 2


def test_games_recorded_before_the_withdrawal_keep_their_results(deal: Deal) -> None:
    event = make_event("round-robin", bots=2, pairs=3)
    ada, bob = entered_versions(event)
    first, *_ = deal()
    record_short([first], all_drawn)
    withdraw(ada, "it lost 5 games in a row")
    tend()
    event.refresh_from_db()
    assert event.games_done == 6
    assert points(event) == {str(ada): 1.0, str(bob): 5.0}
    (table,) = tables_of(event, entered_versions(event))
    assert [row.performance for row in table.crosstable.rows] == [0, 0]  # of the two draws alone


def test_a_version_that_forfeits_too_often_loses_the_rest_of_its_tournament(
    deal: Deal, settings: Settings
) -> None:
    settings.MAX_FORFEITS = 2
    ada, bob = make_version("Ada", owner=make_user()), make_version("Bob")
    event = make_event("round-robin", versions=[ada, bob], pairs=10)
    while BotVersion.objects.valid().count() == 2:
        (job, *_) = deal()
        for report in play_short(job):
            is_hers = Game.objects.get(key=report.key).white_id == ada.pk
            keeper.record(forfeit(report) if is_hers else report)
        BotVersion.objects.filter(pk=ada.pk, forfeits=0, state="valid").update(forfeits=1)
    tend()
    assert deal() == []
    event.refresh_from_db()
    assert event.state == State.FINISHED
    assert event.games.filter(state=Game.State.HALTED).count() == 20 - Game.objects.done().count()


@pytest.mark.parametrize("kind", ["swiss", "knock-out"])
def test_rounds_go_on_without_a_withdrawn_version(deal: Deal, kind: str) -> None:
    event = make_event(kind, bots=4)
    ada = entered_versions(event)[0]
    withdraw(ada, "it lost 5 games in a row")
    for _ in range(12):
        tend()
        record_short(deal(), all_drawn)
    event.refresh_from_db()
    assert event.state == State.FINISHED
    assert {state for state, *_ in games_of(ada)} == {"halted"}
    assert points(event)[str(ada)] == 0
    if kind == "knock-out":
        assert event.games.filter(white=ada).count() == 1


def test_an_extension_makes_no_game_of_a_withdrawn_version_to_be_played(deal: Deal) -> None:
    event = make_event("round-robin", bots=3)
    ada = entered_versions(event)[0]
    withdraw(ada, "it lost 5 games in a row")
    tend()
    record_short(deal(), all_drawn)
    extend(event, 1)
    tend()
    record_short(deal(), all_drawn)
    event.refresh_from_db()
    assert (event.state, event.games_done) == (State.FINISHED, 12)
    assert {state for state, *_ in games_of(ada)} == {"halted"}


def test_a_version_test_of_a_withdrawn_version_ends_too(deal: Deal, on_commit: OnCommit) -> None:
    tournament = make_test(make_user())
    job, *_ = deal()
    begin_game(job.games[0])
    withdraw(entered_versions(tournament)[0], "it lost 5 games in a row")
    with on_commit():
        tend()
    assert VersionTest.objects.get().outcome == VersionTest.Outcome.STOPPED
    assert {game.attempt for game in job.games} <= set(post(job.job).stop)
    tend()
    assert not BotVersion.objects.filter(has_games_to_end=True).exists()


def test_a_version_withdrawn_during_the_start_of_a_tournament_plays_none_of_its_games(
    deal: Deal, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = make_event("round-robin", bots=2, running=False)
    ada = entered_versions(event)[0]

    def withdraw_meanwhile(*_: object) -> None:
        withdraw(ada, "it lost 5 games in a row")
        give_to_opponents(ada.pk)  # finds no games in a draft

    monkeypatch.setattr(tournaments, "check_stored", withdraw_meanwhile)
    tournaments.start(event)
    tend()
    assert deal() == []
    assert {state for state, *_ in games_of(ada)} == {"halted"}


def test_a_version_reinstated_before_the_beat_plays_on(deal: Deal) -> None:
    event = make_event("round-robin", bots=2)
    ada = entered_versions(event)[0]
    withdraw(ada, "it lost 5 games in a row")
    reinstate(ada)
    tend()
    assert not BotVersion.objects.filter(has_games_to_end=True).exists()
    assert len(deal()) == 1
