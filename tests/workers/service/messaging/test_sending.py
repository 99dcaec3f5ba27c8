"""How reports are divided into messages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.e2e.test_hostile_broker import forged_win
from workers.jobs import GameReport, SideLog
from workers.service.messaging import sending


def report(name: str, characters: int = 0) -> GameReport:
    return replace(forged_win(name, name, "players@east/1"), white=SideLog(stderr="x" * characters))


def test_reports_are_sent_in_order_and_in_few_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message that is too long for the broker would lose all its games."""
    sent: list[list[str]] = []

    def send(task: str, reports: list[dict[str, Any]]) -> None:
        sent.append([one["key"] for one in reports])

    monkeypatch.setattr(sending, "_send", send)
    monkeypatch.setattr(sending, "MOST_CHARACTERS", 100)
    sending.send_reports([report("a", 50), report("b", 50), report("c", 1), report("d", 500), report("e")])
    assert sent == [["a", "b"], ["c"], ["d"], ["e"]]
    sending.send_reports([])
    assert len(sent) == 4
