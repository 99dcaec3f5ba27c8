"""What a long migration says while it runs."""

from __future__ import annotations

from importlib import import_module

import pytest

from tournament.migrations import _progress
from tournament.models import User

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
    User.objects.bulk_create(User(username=name, look=name) for name in "abc")
    chunks = list(compressed_texts.chunks("users", User.objects, ("pk",)))
    assert [len(rows) for rows in chunks] == [2, 1]
    assert capsys.readouterr().out == "  users: 2 of 3 (67%)\n  users: 3 of 3 (100%)\n"
