"""The site of ``benchmarks.pages`` is filled, and every address is requested."""

from __future__ import annotations

import pytest

from benchmarks.exports import measure_exports
from benchmarks.pages import fill, measure
from engines.records import Record, read_records, verify_record
from tournament.models import Game, GameRecord

pytestmark = pytest.mark.slow


@pytest.mark.django_db
def test_a_small_site_is_filled_and_every_page_of_it_answers() -> None:
    addresses = fill(2000, bots=12)
    assert Game.objects.done().count() >= 2000
    text = GameRecord.objects.filter(game__tournament__owner=None).latest("pk").text
    (record,) = read_records(text.splitlines(keepends=True), "record")
    assert isinstance(record, Record)
    assert list(verify_record(record)) == []
    times = list(measure(addresses, 1))
    assert [one.template for one in times if max(one.statuses) >= 500] == []
    assert [
        (one.template, one.statuses) for one in times if "{" in one.template and one.statuses != {200}
    ] == []
    assert len([one for one in times if one.statuses == {200}]) > 100
    assert all(rows != "0" for _, rows, *_ in measure_exports())
    assert min(time for one in times for time in one.times_ms) > 0
