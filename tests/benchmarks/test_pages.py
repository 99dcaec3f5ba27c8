"""The site of ``benchmarks.pages`` is filled, and every address of the tests' table is requested."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.pages.addresses import page_cases
from benchmarks.pages.measuring import measure
from benchmarks.pages.site import Event, Plan, SiteFiller
from engines.records import read_records, verify_record
from tests.support.addresses import EXPECTED
from tournament.models import Game, GameRecord, Tournament

pytestmark = pytest.mark.slow


def test_every_address_that_answers_to_get_is_requested() -> None:
    named = {case.title for case in page_cases()}
    assert {name for name, (path, _) in EXPECTED.items() if not path.startswith("POST ")} <= named


@pytest.mark.django_db
def test_a_small_site_is_filled_and_every_page_of_it_answers(settings: Any) -> None:
    for name in ("MAX_TOURNAMENT_GAMES", "MAX_RUNNING", "MAX_DRAFTS", "MAX_TESTS"):
        setattr(settings, name, 10_000)
    kinds = Tournament.Kind
    events = [Event(1, kind, 6, pairs=2) for kind in (kinds.GAUNTLET, kinds.SWISS, kinds.KNOCK_OUT)]
    events += [Event(1, kinds.ROUND_ROBIN, 6), Event(1, kinds.ROUND_ROBIN, 6, played=0.5)]
    plan = Plan(2000, bots=12, owners=4, events=events, tests=1, test_games=20)
    SiteFiller(plan, show=lambda line: None).fill()
    assert Game.objects.done().count() >= plan.games // 2
    record = next(read_records(GameRecord.objects.latest("pk").text.splitlines(keepends=True), "record"))
    assert list(verify_record(record)) == []  # type: ignore[arg-type]
    times = list(measure(page_cases(), 1))
    assert [one.case.title for one in times if max(one.statuses) >= 500] == []
    assert len([one for one in times if one.statuses == {200}]) > 100
    assert min(one.median_ms for one in times) > 0
