"""The site's commands to a worker: read strictly, and valid for a short time."""

from __future__ import annotations

import json

import pytest

from workers.jobs import JobError
from workers.service.messaging.commands import LIFETIME_SECONDS, Admission, make_command, read_command

EAST = "players@east"


def test_a_command_survives_serialization() -> None:
    command = make_command(EAST, admission=Admission("r1", False, "it smells"), stop=("a", "b"))
    assert read_command(json.dumps(command.to_json()), EAST, command.expires - 1) == command


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"\xff\xfe\x00", "not a command"),
        (b"[" * 100_000, "not a command"),
        ("null", "Command must be an object"),
        ('{"worker": "players@east", "expires": 1, "shutdown": true}', "unknown field 'shutdown'"),
    ],
)
def test_what_is_no_command_is_named(body: str | bytes, complaint: str) -> None:
    with pytest.raises(JobError, match=complaint):
        read_command(body, EAST, 0.0)


def test_an_old_command_and_one_to_another_worker_are_refused() -> None:
    command = make_command(EAST, stop=("a",))
    body = json.dumps(command.to_json())
    with pytest.raises(JobError, match="expired 1 s ago"):
        read_command(body, EAST, command.expires + 1)
    with pytest.raises(JobError, match="a command to 'players@east'"):
        read_command(body, "players@west", command.expires - LIFETIME_SECONDS)
