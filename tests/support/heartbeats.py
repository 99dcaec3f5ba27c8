"""A heartbeat for tests of both of its ends."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

from workers.jobs import Heartbeat, Work


def heartbeat_of(worker: str = "players@east", **changes: Any) -> Heartbeat:
    """The heartbeat of an idle worker with two slots for games that runs uploads."""
    usual = Heartbeat(
        worker=worker,
        run=str(uuid.UUID(int=1)),
        host="east",
        takes=(Work.GAMES,),
        version="1",
        slots=2,
        busy=0,
        held=0,
        games=0,
        voids=0,
        games_an_hour=0,
        speed="20.0",
        level="A",
        refusal="",
        trouble="",
        stopping=False,
    )
    return replace(usual, **changes)
