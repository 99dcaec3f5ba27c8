"""Updates of sites: with large schedules that are still being made, and with running games."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from importlib import import_module

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from engines.rules.base import Result
from tests.support.filled_site import LADDER, add_version, decide_games, fill_site
from tests.support.meeting_scores import check_scores
from tests.support.rated_games import play_rated
from tests.support.schedule import (
    ask,
    begin_game,
    make_event,
    make_tournament,
    make_user,
    make_version,
    make_worker,
    play_short,
    post,
)
from tests.support.seats import wrong_seats
from tournament.models import (
    Attempt,
    BotVersion,
    ComplianceCheck,
    Game,
    Job,
    LadderRating,
    LiveGame,
    MeetingScore,
    OwnRatings,
    RatingEvent,
    Tournament,
    Worker,
)
from tournament.services.accounts.tokens import create_token, find_token
from tournament.services.annulments import annul
from tournament.services.calendar import tend
from tournament.services.results import keeper
from tournament.services.schedule import pairings
from tournament.services.schedule.pairings import plan_cycles
from tournament.services.schedule.tournaments import extend
from tournament.services.uploads.validation import begin

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_the_steps_of_the_previous_release_are_carried_out(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = [make_version(name) for name in ("Ada", "Bob")]
    whole = make_tournament(versions=versions, pairs=5, opening_plies=2, name="Whole")
    monkeypatch.setattr(pairings, "PAIRINGS_AT_ONCE", 1)
    large = make_tournament(versions=versions, pairs=3, opening_plies=2, name="Large")
    extend(large, 2)
    cancelled = make_tournament(versions=versions, name="Cancelled")
    Tournament.objects.filter(pk=cancelled.pk).update(state="cancelled")
    planned = [
        (one.ladder, one.round, one.number, one.first, one.second, one.opening, one.seed)
        for one in list(plan_cycles(large, 0, 5))[large.pairings.count() : 3]
    ]
    call_command("migrate", "tournament", "0031", verbosity=0)
    try:
        apps = MigrationExecutor(connection).loader.project_state(("tournament", "0031_workers_ask")).apps
        add = apps.get_model("tournament", "ScheduleStep").objects.create
        add(kind="store", tournament_id=large.pk, pairings=json.dumps(planned), games=2 * len(planned))
        add(kind="plan", tournament_id=large.pk, first_cycle=3, cycles=2, games=4)
        add(kind="cancel", tournament_id=cancelled.pk)
        add(kind="withdraw", version_id=versions[0].pk)
    finally:
        call_command("migrate", verbosity=0)
    assert Tournament.objects.get(pk=large.pk).games_to_make == 4
    assert BotVersion.objects.get(has_games_to_end=True) == versions[0]
    assert set(cancelled.games.values_list("state", flat=True)) == {Game.State.CANCELLED}
    while tend():
        pass
    columns = ("number", "white", "black", "pairing__round", "pairing__number", "pairing__opening")
    made = [list(one.games.order_by("key").values_list(*columns)) for one in (whole, large)]
    assert [row[:5] for row in made[0]] == [row[:5] for row in made[1]]
    assert len(made[1]) == 10


def test_the_best_rating_of_a_version_is_found_in_its_games(up_to_date: None) -> None:
    site = fill_site()
    for sequence, (mu, sigma) in enumerate([(20.0, 1.0), (30.0, 2.0), (28.0, 1.5)], start=1):
        after = {"mu_before": 25, "sigma_before": 8, "mu_after": mu, "sigma_after": sigma}
        RatingEvent.objects.create(
            ladder_id=LADDER, sequence=sequence, game=site.played, version=site.white, **after
        )
    call_command("migrate", "tournament", "0039", verbosity=0)
    call_command("migrate", verbosity=0)
    best = dict(LadderRating.objects.values_list("version", "best"))
    assert best == {site.white.pk: 24.0, site.black.pk: 0.0}


def test_the_tokens_of_an_earlier_release_keep_what_they_may_do(up_to_date: None) -> None:
    _, text = create_token(make_user(), "shell", ["bots:upload", "logs:read", "worker: own"])
    call_command("migrate", "tournament", "0065", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("SELECT scopes FROM tournament_token")
        assert json.loads(cursor.fetchone()[0]) == ["upload", "read", "worker: own"]
    call_command("migrate", verbosity=0)
    found = find_token(text, timezone.now())
    assert found is not None
    assert found.scopes == ["bots:upload", "logs:read", "worker: own"]


def test_the_games_of_an_earlier_release_get_seats_though_their_making_was_interrupted(
    up_to_date: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = fill_site()
    games = play_rated(site.owner, "Autumn", [site.white, site.black])
    Game.objects.filter(pk=games[0].pk).update(finished_at=None)
    seats = import_module("tournament.migrations.0057_seats")
    monkeypatch.setattr(seats, "CHUNK", 1)
    call_command("migrate", "tournament", "0056", verbosity=0)
    with monkeypatch.context() as interrupted:
        interrupted.setattr(seats.Progress, "add", _interrupt_at_the_third())
        with pytest.raises(KeyboardInterrupt):
            seats.prepare("default")
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM tournament_seat")
        assert 0 < cursor.fetchone()[0] < 2 * Game.objects.done().count()
    call_command("migrate", verbosity=0)
    assert list(wrong_seats()) == []


def _interrupt_at_the_third() -> Callable[..., None]:
    calls: list[int] = []

    def add(_: object, rows: int) -> None:
        calls.append(rows)
        if len(calls) == 3:
            raise KeyboardInterrupt

    return add


@pytest.fixture
def up_to_date(transactional_db: None) -> Iterator[None]:
    yield
    call_command("migrate", verbosity=0)


def test_what_workers_of_the_previous_release_hold_waits_again(up_to_date: None) -> None:
    make_tournament(pairs=2)
    version = make_version("Cy", owner=make_user(), state=BotVersion.State.VALIDATING)
    check = begin(version, timezone.now())
    assert check is not None
    players, checker = make_worker(1), make_worker(name="checker", takes="checks")
    batch = ask(players)
    assert batch is not None
    begin_game(batch.jobs[0].games[0])
    assert ask(checker)
    call_command("migrate", "tournament", "0029", verbosity=0)
    call_command("migrate", verbosity=0)
    assert set(Game.objects.values_list("state", "attempt", "voids", "lost")) == {("waiting", None, 0, 0)}
    assert set(Attempt.objects.values_list("end", flat=True)) == {"released"}
    assert not LiveGame.objects.exists()
    assert set(Worker.objects.values_list("name", "state")) == {("players@east", "lost"), ("checker", "lost")}
    Worker.objects.update(state="up")
    again = ask(players)
    assert again is not None
    assert [game.key for game in again.jobs[0].games] == [game.key for game in batch.jobs[0].games]
    found = ask(checker)
    assert found is not None
    assert found.check
    assert (str(ComplianceCheck.objects.get().job_id), ComplianceCheck.objects.get().pk) == (
        found.job,
        check.pk,
    )


def test_games_that_are_reported_before_the_update_are_recorded_after_it(up_to_date: None) -> None:
    make_tournament()
    worker = make_worker(1)
    batch = ask(worker)
    assert batch is not None
    first, second = play_short(batch.jobs[0])
    post(batch.job, reports=(first,))
    call_command("migrate", "tournament", "0057", verbosity=0)
    state = MigrationExecutor(connection).loader.project_state(("tournament", "0057_seats"))
    state.apps.get_model("tournament", "Attempt").objects.update(assigned=worker.name)
    call_command("migrate", verbosity=0)
    assert not keeper.record_inbox(60)
    states = dict(Game.objects.values_list("key", "state"))
    assert states == {first.key: Game.State.DONE, second.key: Game.State.WAITING}
    assert not Job.objects.held().exists()


def test_the_results_of_each_two_players_are_counted_from_the_games_though_it_is_interrupted(
    up_to_date: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = [add_version(None, name) for name in ("Ada", "Bob", "Cy", "Dee")]
    chance = random.Random(1)
    for kind in ("round-robin", "gauntlet", "swiss", "knock-out"):
        event = make_event(kind, versions=versions, ladders=[LADDER, "duploline"], name=kind, pairs=2)
        decide_games(event, lambda _: chance.choice([Result.WHITE_WINS, Result.DRAW, Result.BLACK_WINS]))
        games = event.games.order_by("pk")
        annul(games.filter(pk__in=[games[0].pk, games[1].pk]), "The clock was wrong.", timezone.now())
        for game, fault in zip(games[2:6], ("", "white", "black", "infrastructure"), strict=True):
            halted = {"state": "halted", "result": None, "sequence": None, "fault": fault}
            Game.objects.filter(pk=game.pk).update(**halted)
    fill = import_module("tournament.migrations.0056_fill_meeting_scores")
    call_command("migrate", "tournament", "0055", verbosity=0)
    MeetingScore.objects.all().delete()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(fill.Progress, "add", interrupt)
        with pytest.raises(KeyboardInterrupt):
            call_command("migrate", "tournament", "0056", verbosity=0)
    assert len({row.tournament_id for row in MeetingScore.objects.all()}) == 1
    call_command("migrate", verbosity=0)
    check_scores()


def test_ratings_and_winners_of_stored_tables_are_kept(up_to_date: None) -> None:
    cup = decide_games(make_event("round-robin", bots=3))
    before = OwnRatings.objects.values().get()
    call_command("migrate", "tournament", "0054", verbosity=0)
    apps = (
        MigrationExecutor(connection)
        .loader.project_state(("tournament", "0054_no_time_of_ignored_messages"))
        .apps
    )
    rows = {
        code: {"rows": [[pk, 1, 0, 0, 0, 0.0, 1.5, rating, 4, 0, 0, 0, 4, 0, 0, 0] for pk, rating in found]}
        for code, found in before["ratings"].items()
    }
    columns = {name: value for name, value in before.items() if name not in {"ratings", "due_at"}}
    add = apps.get_model("tournament", "TournamentTables").objects.create
    columns |= {"computed_at": before["due_at"], "cost_s": 0.1, "games_total": cup.games_total}
    add(**columns, standings=json.dumps(rows), meetings="{}")
    call_command("migrate", verbosity=0)
    assert OwnRatings.objects.values().get() == before
