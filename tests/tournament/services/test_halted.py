"""What staff does about halted games."""

from __future__ import annotations

import pytest
from django.db.models import F

from tests.support.schedule import (
    Deal,
    all_drawn,
    candidate_wins,
    first_name_wins,
    make_event,
    make_test,
    make_user,
    make_version,
    play_all,
    record_all,
    record_short,
    start_validation,
    void,
)
from tournament.models import BotVersion, Game, GameLog, Tournament, VersionTest
from tournament.monitoring.values import halted_games
from tournament.services.calendar import tend
from tournament.services.halted import HaltedAct, settle
from tournament.services.results.withdrawal import withdraw
from tournament.services.schedule.pairings import entered_versions
from tournament.services.schedule.tables import tables_of
from tournament.services.schedule.tournaments import TournamentError, cancel
from tournament.services.work.attempts import halt_after_failures
from workers.failures import MAX_LOST, MAX_VOIDS

pytestmark = pytest.mark.django_db
State = Tournament.State
ACTS = list(HaltedAct)


def halt_one(event: Tournament, deal: Deal) -> Game:
    """Let the first pair of games halt, and all others be drawn."""
    first, second = event.games.order_by("pk")[:2]
    for game in (first, second):
        GameLog.objects.create(game=game, side="white", content=b"")
        assert halt_after_failures(game, "given up: the disk is full", hopeless=True)
    record_short(deal(), all_drawn)
    event.refresh_from_db()
    first.refresh_from_db()
    return first


def points(event: Tournament) -> dict[str, float]:
    (table,) = tables_of(event, entered_versions(event))
    return {table.versions[row.player].bot.name: row.points for row in table.crosstable.rows}


def settle_all(act: HaltedAct) -> None:
    for game in halted_games():
        settle(game.pk, act)


def test_a_halted_game_is_played_again_and_its_tournament_then_finishes(deal: Deal) -> None:
    event = make_event("round-robin", bots=3)
    halt_one(event, deal)
    assert event.state == State.HALTED
    settle_all(HaltedAct.PLAY_AGAIN)
    event.refresh_from_db()
    assert (event.state, event.finished_at, event.games_done) == (State.RUNNING, None, 4)
    assert not halted_games().exists()
    record_short(deal(), first_name_wins)
    event.refresh_from_db()
    assert (event.state, event.games_done, event.games.done().count()) == (State.FINISHED, 6, 6)
    assert set(event.games.values_list("fault", flat=True)) == {"none"}


def test_a_game_that_is_played_again_may_fail_as_often_as_a_new_one(deal: Deal) -> None:
    event = make_event("round-robin", bots=2)
    halt_one(event, deal)
    event.games.update(voids=MAX_VOIDS, lost=MAX_LOST)
    settle_all(HaltedAct.PLAY_AGAIN)
    assert set(event.games.values_list("state", "voids", "lost", "evidence")) == {("waiting", 0, 0, "")}
    (job,) = deal()
    record_all([void(report) for report in play_all(job)])
    assert set(event.games.values_list("state", "voids")) == {("waiting", 1)}


@pytest.mark.parametrize("act", [HaltedAct.ACKNOWLEDGE, HaltedAct.ANNUL])
def test_a_game_that_staff_has_dealt_with_needs_nobody_any_more(deal: Deal, act: HaltedAct) -> None:
    event = make_event("round-robin", bots=3)
    game = halt_one(event, deal)
    before = points(event)
    settle_all(act)
    settle(game.pk, act)  # repeated
    game.refresh_from_db()
    assert not halted_games().exists()
    assert (game.state, game.fault) == (Game.State.HALTED, "infrastructure")
    assert game.evidence == "given up: the disk is full"
    lost = 1.0 if act is HaltedAct.ANNUL else 0.0
    after = points(event)
    assert sum(before.values()) - sum(after.values()) == 2 * lost
    event.refresh_from_db()
    state = State.FINISHED if act is HaltedAct.ANNUL else State.HALTED
    assert (event.state, event.games_done) == (state, 6)


def test_a_tournament_of_which_all_halted_games_are_annulled_finishes(deal: Deal) -> None:
    event = make_event("swiss", bots=4, rounds=2)
    halt_one(event, deal)
    settle_all(HaltedAct.ANNUL)
    for _ in range(3):
        tend()
        record_short(deal(), all_drawn)
    tend()
    event.refresh_from_db()
    assert event.state == State.FINISHED
    assert sum(points(event).values()) == 6.0


def test_a_round_waits_for_a_game_that_is_played_again(deal: Deal) -> None:
    event = make_event("swiss", bots=4, rounds=2)
    halt_one(event, deal)
    settle_all(HaltedAct.PLAY_AGAIN)
    tend()
    assert event.pairings.count() == 2
    record_short(deal(), all_drawn)
    tend()
    assert event.pairings.count() == 4


def test_what_the_bracket_was_drawn_from_is_not_played_again(deal: Deal) -> None:
    event = make_event("knock-out", bots=4, extra_pairs=0)
    game = halt_one(event, deal)
    tend()
    with pytest.raises(TournamentError, match="a later round has been drawn from the bracket"):
        settle(game.pk, HaltedAct.PLAY_AGAIN)
    settle_all(HaltedAct.ACKNOWLEDGE)
    record_short(deal(), first_name_wins)
    tend()
    event.refresh_from_db()
    assert event.is_over


def test_a_game_of_a_withdrawn_version_or_of_a_cancelled_event_is_not_played_again(deal: Deal) -> None:
    event = make_event("swiss", bots=2, rounds=3)
    game = halt_one(event, deal)
    cancelled = make_event("swiss", versions=[make_version("Ada"), make_version("Bob")], rounds=3)
    other = halt_one(cancelled, deal)
    withdraw(entered_versions(event)[0], "it lost 5 games in a row")
    cancel(cancelled)
    for one, why in ((game, "Bot 1 v1 is withdrawn"), (other, "its tournament is cancelled")):
        with pytest.raises(TournamentError, match=why):
            settle(one.pk, HaltedAct.PLAY_AGAIN)
        settle(one.pk, HaltedAct.ACKNOWLEDGE)


@pytest.mark.parametrize("act", ACTS)
def test_only_a_halted_game_is_dealt_with(deal: Deal, act: HaltedAct) -> None:
    event = make_event("round-robin", bots=3)
    ada = entered_versions(event)[0]
    withdraw(ada, "it lost 5 games in a row")
    tend()
    for game in event.games.all():
        with pytest.raises(TournamentError, match="is not halted"):
            settle(game.pk, act)
    assert event.games.filter(fault__in=["white", "black"]).count() == 4


@pytest.mark.parametrize("act", ACTS)
def test_a_pair_of_a_version_test_is_counted_again(deal: Deal, act: HaltedAct) -> None:
    event = make_test(make_user())
    halt_one(event, deal)
    tend()
    assert VersionTest.objects.get().left_out == 1
    settle_all(act)
    record_short(deal(), candidate_wins)
    tend()
    assert not halted_games().exists()
    event.refresh_from_db()
    assert event.games_done == event.games.filter(state__in=["done", "halted"]).count()
    assert VersionTest.objects.get().left_out == (0 if act is HaltedAct.PLAY_AGAIN else 1)


def test_a_validation_is_acknowledged_and_not_played_again(deal: Deal) -> None:
    version = make_version("Ada", owner=make_user(), state=BotVersion.State.VALIDATING)
    event = start_validation(version)
    game = event.games.get()
    Game.objects.filter(pk=game.pk).update(state=Game.State.HALTED, evidence="the disk is full")
    with pytest.raises(TournamentError, match="the upload that it checked is checked anew"):
        settle(game.pk, HaltedAct.PLAY_AGAIN)
    settle(game.pk, HaltedAct.ACKNOWLEDGE)
    assert not halted_games().exists()
    assert Tournament.objects.filter(games_done__gt=F("games_total")).count() == 0
