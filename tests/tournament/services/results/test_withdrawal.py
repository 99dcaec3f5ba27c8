"""What happens to the games of a version that is withdrawn."""

from __future__ import annotations

import pytest
from django.db.models import Q
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
    record,
    record_short,
)
from tournament.formats.base import TournamentError
from tournament.models import Attempt, BotVersion, Game, Tournament, VersionTest
from tournament.services.calendar import tend
from tournament.services.results.withdrawal import reinstate, withdraw
from tournament.services.schedule import pairings, tournaments
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
            record(forfeit(report) if is_hers else report)
        BotVersion.objects.filter(pk=ada.pk, forfeits=0, state="valid").update(forfeits=1)
    tend()
    assert deal() == []
    event.refresh_from_db()
    assert event.state == State.FINISHED
    assert event.games.filter(state=Game.State.HALTED).count() == 20 - Game.objects.done().count()


def play_on(event: Tournament, deal: Deal) -> Tournament:
    """Play it to its end; all games are drawn."""
    for _ in range(20):
        tend()
        record_short(deal(), all_drawn)
    event.refresh_from_db()
    return event


def rounds_of(event: Tournament, version: BotVersion) -> list[int]:
    """The rounds in which a version was paired."""
    paired = event.pairings.filter(Q(first=version) | Q(second=version))
    return sorted(set(paired.values_list("round", flat=True)))


@pytest.mark.parametrize("bots", [4, 7])
def test_nobody_meets_a_withdrawn_version_in_later_rounds_of_a_swiss_and_it_has_no_bye(
    deal: Deal, bots: int
) -> None:
    event = make_event("swiss", bots=bots, rounds=5)
    ada = entered_versions(event)[0]
    tend()
    withdraw(ada, "it lost 5 games in a row")
    assert play_on(event, deal).state == State.FINISHED
    assert rounds_of(event, ada) == [1]
    assert {state for state, *_ in games_of(ada)} == {"halted"}
    (table,) = tables_of(event, entered_versions(event))
    byes = {row.player: row.byes for row in table.crosstable.rows}
    left = bots - 1
    assert event.pairings.filter(round__gt=1).count() == 4 * (left // 2)
    assert byes[ada.pk] == 0
    assert sum(byes.values()) == (4 * (left % 2)) + bots % 2
    (_, *others) = sorted(row.points for row in table.crosstable.rows)
    assert sum(others) == 2 * (bots // 2) + 2 * (bots % 2) + 4 * 2 * ((left + 1) // 2)


def test_a_version_that_plays_again_is_paired_again_without_a_bye_for_the_rounds_it_missed(
    deal: Deal,
) -> None:
    event = make_event("swiss", bots=5, rounds=4)
    ada = entered_versions(event)[0]
    withdraw(ada, "it is mended")
    tend()
    record_short(deal(), all_drawn)
    tend()  # draws round 2
    record_short(deal(), all_drawn)
    reinstate(BotVersion.objects.get(pk=ada.pk))
    assert play_on(event, deal).state == State.FINISHED
    assert 2 not in rounds_of(event, ada)
    (table,) = tables_of(event, entered_versions(event))
    (row,) = [row for row in table.crosstable.rows if row.player == ada.pk]
    assert len(rounds_of(event, ada)) + row.byes == 3


def test_a_version_that_plays_again_after_the_end_of_a_swiss_is_paired_in_the_rounds_added(
    deal: Deal,
) -> None:
    event = make_event("swiss", bots=4, rounds=2)
    ada = entered_versions(event)[0]
    tend()
    withdraw(ada, "it is mended")
    assert play_on(event, deal).state == State.FINISHED
    reinstate(BotVersion.objects.get(pk=ada.pk))
    extend(event, 1)
    assert play_on(event, deal).state == State.FINISHED
    assert rounds_of(event, ada) == [1, 3]


@pytest.mark.parametrize("left", [0, 1])
def test_a_swiss_ends_when_fewer_than_two_versions_are_left(deal: Deal, left: int) -> None:
    event = make_event("swiss", bots=4, rounds=5)
    versions = entered_versions(event)
    record_short(deal(), all_drawn)
    for version in versions[left:]:
        withdraw(version, "it lost 5 games in a row")
    assert play_on(event, deal).state == State.FINISHED
    assert event.pairings.count() == 2
    assert points(event) == {str(version): 1.0 for version in versions}


def test_a_knock_out_goes_on_without_withdrawn_versions(deal: Deal) -> None:
    event = make_event("knock-out", bots=4, extra_pairs=0)
    ada, bob, *_ = entered_versions(event)
    record_short(deal(), all_drawn)  # the better seeds, Ada and Bob, go on
    withdraw(ada, "it lost 5 games in a row")
    assert play_on(event, deal).state == State.FINISHED
    assert rounds_of(event, ada) == rounds_of(event, bob) == [1]
    (table,) = tables_of(event, entered_versions(event))
    winners = event.format.winners(table)
    assert winners is not None
    assert list(winners.players) == [bob.pk]


def test_nobody_wins_a_knock_out_whose_finalists_are_withdrawn(deal: Deal) -> None:
    event = make_event("knock-out", bots=4, extra_pairs=0)
    record_short(deal(), all_drawn)
    for version in entered_versions(event):
        withdraw(version, "it lost 5 games in a row")
    assert play_on(event, deal).state == State.FINISHED
    (table,) = tables_of(event, entered_versions(event))
    assert event.pairings.count() == 2
    assert event.format.winners(table) is None


@pytest.mark.parametrize("at_once", [1, 100])
def test_an_extension_is_played_among_the_versions_that_are_left(
    deal: Deal, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairings, "PAIRINGS_AT_ONCE", at_once)
    event = make_event("round-robin", bots=4, opening_plies=2)
    ada = entered_versions(event)[0]
    withdraw(ada, "it lost 5 games in a row")
    assert play_on(event, deal).games_done == 12
    extend(event, 2)
    assert play_on(event, deal).games_done == event.games_total == 12 + 2 * 3 * 2
    assert event.state == State.FINISHED
    assert rounds_of(event, ada) == [1, 2, 3]
    assert points(event)[str(ada)] == 0
    later = event.pairings.filter(round__gt=3).values_list("round", "opening").distinct()
    assert len(later) == 6
    assert len({opening for _, opening in later}) <= 2


def test_nothing_is_extended_of_which_too_few_versions_are_left(deal: Deal) -> None:
    gauntlet, swiss = make_event("gauntlet", bots=3), make_event("swiss", bots=2, rounds=1)
    withdraw(entered_versions(gauntlet)[0], "it lost 5 games in a row")
    play_on(gauntlet, deal)
    play_on(swiss, deal)
    withdraw(entered_versions(swiss)[0], "it lost 5 games in a row")
    with pytest.raises(TournamentError, match="the challenger 'Bot 1 v1' is withdrawn"):
        extend(gauntlet, 1)
    with pytest.raises(TournamentError, match="only 'Bot 2 v2' plays 'duploline', it needs two"):
        extend(swiss, 1)


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
