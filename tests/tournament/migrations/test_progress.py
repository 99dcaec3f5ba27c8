"""What a long migration says while it runs."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.db import connection

from tournament.migrations import _progress

compressed_texts = import_module("tournament.migrations.0021_compressed_texts")


def test_a_long_migration_says_how_far_it_is_and_a_short_one_nothing() -> None:
    said: list[str] = []
    times = [0.0]
    progress = _progress.Progress("rows changed", 4000, said.append, lambda: times[-1])
    for now in (1.0, 9.0, 11.0, 12.0, 25.0):
        times.append(now)
        progress.add(500)
    assert said == ["  rows changed: 1,500 of 4,000 (38%)", "  rows changed: 2,500 of 4,000 (62%)"]


@pytest.mark.django_db
def test_the_compression_of_texts_says_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_progress, "PAUSE_S", 0.0)
    monkeypatch.setattr(compressed_texts, "CHUNK", 2)
    new, select = (
        compressed_texts.RECORDS,
        compressed_texts.OLD_RECORDS.replace("tournament_gamerecord", "old"),
    )
    with connection.cursor() as cursor:
        for table in ("old", new):
            cursor.execute(f"CREATE TEMPORARY TABLE {table} (game_id integer, text blob)")
        cursor.executemany("INSERT INTO old VALUES (%s, %s)", [(1, "a"), (3, "b"), (4, "c")])
        compressed_texts.copy(connection, cursor, "records", select, "old", new, compressed_texts.pack_record)
        cursor.execute(f"SELECT game_id FROM {new}")
        assert cursor.fetchall() == [(1,), (3,), (4,)]
    assert capsys.readouterr().out == "  records: 2 of 3 (67%)\n  records: 3 of 3 (100%)\n"
