"""The site's commands to a worker: read strictly."""

from __future__ import annotations

import json

import pytest

from workers.jobs import JobError
from workers.service.messaging.commands import Admission, Command, read_command

EAST = "players@east"


def test_a_command_survives_serialization() -> None:
    command = Command(EAST, admission=Admission("r1", False, "it smells"), stop=("a", "b"))
    assert read_command(json.dumps(command.to_json()), EAST) == command


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"\xff\xfe\x00", "not a command"),
        (b"[" * 100_000, "not a command"),
        ("null", "Command must be an object"),
        ('{"worker": "players@east", "shutdown": true}', "unknown field 'shutdown'"),
    ],
)
def test_what_is_no_command_is_named(body: str | bytes, complaint: str) -> None:
    with pytest.raises(JobError, match=complaint):
        read_command(body, EAST)


def test_a_command_to_another_worker_is_refused() -> None:
    body = json.dumps(Command(EAST, stop=("a",)).to_json())
    with pytest.raises(JobError, match="a command to 'players@east'"):
        read_command(body, "players@west")
