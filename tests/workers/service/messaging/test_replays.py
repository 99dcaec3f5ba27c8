"""Which messages count as received before, and for how long that is known."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from workers.service.messaging import replays
from workers.service.messaging.replays import WINDOW_SECONDS, FileMemory, Received, RecentMessages

NOW = 1_800_000_000
JOBS, COMMANDS = "games.players@east", "commands.players@east"


def job(name: str, sent: int = NOW) -> Received:
    return Received(name, JOBS, sent)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "received-players@east"


def test_a_message_is_received_once() -> None:
    memory = RecentMessages()
    assert not memory.has(job("a"), NOW)
    memory.add(job("a"), NOW)
    assert memory.has(job("a"), NOW)
    assert not memory.has(job("b"), NOW)


def test_a_message_much_older_than_the_newest_was_received_before() -> None:
    """So only the names of the last minutes need to be known."""
    memory = RecentMessages()
    memory.add(job("a", NOW - WINDOW_SECONDS - 1), NOW)
    memory.add(job("b"), NOW)
    assert memory.forget_old(NOW) == [job("b")]
    assert memory.has(job("a", NOW - WINDOW_SECONDS - 1), NOW)
    assert not memory.has(job("c", NOW - WINDOW_SECONDS), NOW)


def test_a_job_that_waits_for_hours_is_played_while_commands_come() -> None:
    memory = RecentMessages()
    memory.add(Received("c", COMMANDS, NOW), NOW)
    assert not memory.has(job("a", NOW - 20 * WINDOW_SECONDS), NOW)


def test_a_queue_that_waited_is_taken_whole() -> None:
    memory, day = RecentMessages(), 24 * 3600
    for sent in range(NOW, NOW + day, 3600):
        assert not memory.has(job(str(sent), sent), NOW + day)
        memory.add(job(str(sent), sent), NOW + day)


def test_a_broker_s_clock_that_was_a_day_ahead_delays_no_message() -> None:
    memory = RecentMessages()
    memory.add(job("ahead", NOW + 24 * 3600), NOW + 24 * 3600)
    assert not memory.has(job("a"), NOW)
    memory.add(job("a"), NOW)
    assert not memory.has(job("b", NOW + 1), NOW + 1)
    assert memory.has(job("a"), NOW + 1)
    assert memory.has(job("ahead", NOW + 1), NOW + 1)


def test_a_file_keeps_the_messages_over_a_restart(file: Path) -> None:
    FileMemory(file).add(job("a"), NOW)
    second = FileMemory(file)
    assert second.has(job("a"), NOW)
    second.add(job("b"), NOW)
    second.add(Received("c", COMMANDS, NOW), NOW)
    third = FileMemory(file)
    assert all(third.has(message, NOW) for message in (job("a"), job("b"), Received("c", COMMANDS, NOW)))
    assert not third.has(job("c"), NOW)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_line_that_was_not_written_whole_is_left_out(file: Path) -> None:
    FileMemory(file).add(job("a"), NOW)
    with file.open("ab") as torn:
        torn.write(b"games.players@east \xff\n\ngames b x\n" + f"{JOBS} b".encode())
    memory = FileMemory(file)
    assert memory.has(job("a"), NOW)
    assert not memory.has(job("b"), NOW)
    memory.add(job("c"), NOW)
    assert FileMemory(file).has(job("c"), NOW)


def test_the_file_does_not_grow_without_end(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replays, "MOST_SPARE_LINES", 10)
    memory = FileMemory(file)
    for number in range(100):
        sent = NOW + number * WINDOW_SECONDS
        memory.add(job(str(number), sent), sent)
        assert len(file.read_text().splitlines()) <= 13
    assert FileMemory(file).has(job("3", NOW + 3 * WINDOW_SECONDS), NOW + 100 * WINDOW_SECONDS)


def test_a_file_that_cannot_be_written_stops_no_worker(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    memory = FileMemory(tmp_path / "file" / "received")
    memory.add(job("a"), NOW)
    assert memory.has(job("a"), NOW)
