"""Inserting many rows at once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection

from tournament.models import WorkerName
from tournament.services import bulk
from tournament.services.bulk import insert_rows

pytestmark = pytest.mark.django_db(transaction=True)


def test_rows_keep_their_order_over_all_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "CHUNK", 2)
    insert_rows(WorkerName, ({"name": f"w{number}"} for number in range(5)))
    assert list(WorkerName.objects.order_by("pk").values_list("name", flat=True)) == "w0 w1 w2 w3 w4".split()


def test_an_insert_that_fails_leaves_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "CHUNK", 2)

    def rows() -> Iterator[dict[str, str]]:
        for number in range(5):
            yield {"name": f"w{number}"}
        raise InterruptedError

    with pytest.raises(InterruptedError):
        insert_rows(WorkerName, rows())
    assert not WorkerName.objects.exists()
    assert not connection.in_atomic_block
    insert_rows(WorkerName, [{"name": "later"}])
    assert WorkerName.objects.count() == 1
