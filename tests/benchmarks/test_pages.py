"""The site of ``benchmarks.pages`` has the rows that the services make, and every address is requested."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.db import transaction
from django.db.models import Model

from benchmarks.pages import playing
from benchmarks.pages.addresses import POSTED, page_cases
from benchmarks.pages.measuring import measure
from benchmarks.pages.playing import BulkPlay
from benchmarks.pages.site import Event, Plan, SiteFiller
from tests.support.addresses import EXPECTED
from tests.support.schedule import make_tournament, make_user, make_version
from tests.tournament.conftest import deal, own_folders, queues
from tournament.models import (
    BotVersion,
    Game,
    GameLog,
    GameRecord,
    Ladder,
    LadderRating,
    PairOutcome,
    PairScore,
    RatingEvent,
    Tournament,
)
from tournament.services.results import keeper
from tournament.services.results.rebuilding import rebuild
from workers.jobs import GameJob

pytestmark = pytest.mark.slow

__all__ = ["deal", "own_folders", "queues"]
LADDERS = ("duploline", "dogon-kulei")
COMPARED: dict[type[Model], tuple[str, ...]] = {
    Game: (
        "key", "state", "result", "termination", "reason", "fault", "evidence", "white_score", "black_score",
        "plies", "sequence", "rated", "fingerprint", "started_at", "finished_at",
        "played_by__name",
    ),
    GameRecord: ("game__key", "text"),
    LadderRating: ("ladder", "version", "mu", "sigma", "conservative", "games", "wins", "draws", "losses"),
    RatingEvent: (
        "ladder", "sequence", "game", "version", "mu_before", "sigma_before", "mu_after", "sigma_after",
    ),
    PairScore: ("ladder", "white", "black", "wins", "draws", "losses"),
    PairOutcome: ("ladder", "one", "other", "first", "second", "count"),
    Ladder: ("code", "sequence"),
    Tournament: ("slug", "state", "games_done", "games_total"),
    BotVersion: ("id", "state", "forfeits"),
}  # fmt: skip
"""The columns that must be equal, by table."""


def stored_rows() -> dict[str, list[tuple[Any, ...]]]:
    rows = {
        model.__name__: sorted(model._default_manager.values_list(*columns), key=repr)
        for model, columns in COMPARED.items()
    }
    logs = GameLog.objects.order_by("game__key", "side").select_related("game")
    kept = [(log.game.key, log.side, log.stderr, log.lines, log.kept_long) for log in logs if log.lines]
    return rows | {"GameLog": kept}


def bulk_play() -> BulkPlay:
    begin = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)
    strengths = {pk: 50.0 * pk for pk in BotVersion.objects.values_list("pk", flat=True)}
    return BulkPlay(strengths, begin, datetime.timedelta(seconds=10))


def keep(event: Tournament, deal: Callable[[], list[GameJob]]) -> None:
    """Send the games, and record the reports of what the plan says, in its order."""
    given: dict[str, tuple[str, str]] = {}
    for played in bulk_play().plan(event):
        if played.key not in given:
            for job in deal():
                given |= {game.key: (game.attempt, "host/1") for game in job.games}
        attempt, worker = given[played.key]
        report = replace(played.report(attempt), worker=worker)
        assert isinstance(keeper.record(report), keeper.Recorded)


@pytest.mark.django_db
def test_games_played_in_bulk_are_stored_like_those_of_the_record_keeper(
    deal: Callable[[], list[GameJob]], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SLOTS = 200
    monkeypatch.setattr(playing, "FORFEITS", 0.2)
    monkeypatch.setattr(playing, "LOGGED", 3)
    monkeypatch.setattr(playing, "WORKERS", ("host",))
    owners = [make_user("ada"), make_user("bob"), None]
    versions = [make_version(f"Bot {n}", owner=owners[n % 3], games=LADDERS) for n in range(6)]
    event = make_tournament(versions=versions, ladders=LADDERS, pairs=2, opening_plies=2)
    with transaction.atomic():
        keep(event, deal)
        kept = stored_rows()
        transaction.set_rollback(True)
    assert bulk_play().play(event) == event.games_total == 120
    for ladder in LADDERS:
        rebuild(ladder)
    assert stored_rows() == kept
    assert {row[5] for row in kept["Game"]} == {"none", "white", "black"}
    assert {row[11] for row in kept["Game"]} == {True, False}
    assert len(kept["GameLog"]) == 80


def test_every_address_of_the_url_table_is_requested() -> None:
    named = {case.name for case in page_cases()}
    assert named | POSTED == EXPECTED.keys()
    assert named & POSTED == set()
    assert {name for name, (path, _) in EXPECTED.items() if path.startswith("POST ")} == POSTED


@pytest.mark.thorough
@pytest.mark.django_db
def test_a_small_site_is_filled_and_every_page_of_it_answers(settings: Any) -> None:
    for name in ("MAX_TOURNAMENT_GAMES", "MAX_RUNNING", "MAX_DRAFTS", "MAX_TESTS"):
        setattr(settings, name, 10_000)
    kinds = Tournament.Kind
    events = [Event(1, kind, 6, pairs=2) for kind in (kinds.GAUNTLET, kinds.SWISS, kinds.KNOCK_OUT)]
    events += [Event(1, kinds.ROUND_ROBIN, 6), Event(1, kinds.ROUND_ROBIN, 6, played=0.5)]
    plan = Plan(2000, bots=12, owners=4, events=events, tests=1, test_games=20, validations=1, drafts=1)
    SiteFiller(plan, show=lambda line: None).fill()
    assert Game.objects.done().count() >= plan.games // 2
    times = list(measure(page_cases(), 1))
    assert [one.case.title for one in times if max(one.statuses) >= 500] == []
    assert len([one for one in times if one.statuses == {200}]) > 100
    assert min(one.median_ms for one in times) > 0
