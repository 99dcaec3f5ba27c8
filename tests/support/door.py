"""A worker as the site sees it: its requests to the door, sent by Django's test client."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
from django.test import Client

from tests.support.heartbeats import heartbeat_of
from tests.support.schedule import make_user
from tournament.models import Token, User
from tournament.services.accounts.tokens import create_token
from workers.jobs import PROTOCOL, Admission, Ask, Batch, Heartbeat, JobGame, Post, PostAnswer, Progress, Work

WORKER = "players@east"


def make_token(owner: User | None = None) -> str:
    """The text of a new worker token."""
    user = owner or User.objects.filter(is_staff=True).first() or make_user("stan", staff=True)
    return create_token(user, "workers", [Token.Scope.WORKER])[1]


@dataclass
class DoorWorker:
    """One worker with one slot; every request is checked for its status."""

    token: str = field(default_factory=make_token)
    name: str = WORKER
    run: str = field(default_factory=lambda: str(uuid.uuid4()))
    takes: tuple[Work, ...] = (Work.GAMES,)
    slots: int = 2
    slot: int = 0
    headers: dict[str, str] = field(default_factory=dict)

    def send(self, path: str, body: object, **headers: str) -> Any:
        """The response to a request; ``body`` is a message, its JSON or bytes."""
        sent = body if isinstance(body, bytes) else json.dumps(msgspec.to_builtins(body)).encode()
        told = {"Authorization": f"Bearer {self.token}", "Duarena-Protocol": str(PROTOCOL)}
        return Client(raise_request_exception=False).post(
            path, sent, content_type="application/json", headers={**told, **self.headers, **headers}
        )

    def heartbeat(self, **changes: Any) -> Heartbeat:
        mine = {"run": self.run, "takes": self.takes, "slots": self.slots, "speed": "30.0"}
        return heartbeat_of(**{"worker": self.name, **mine, **changes})

    def beat(self, **changes: Any) -> Admission:
        answer = self.send("/api/workers/", self.heartbeat(**changes))
        assert answer.status_code == 200, answer.content
        return msgspec.convert(answer.json()["admission"], Admission)

    def new_ask(self, **changes: Any) -> Ask:
        return replace(Ask(str(uuid.uuid4()), self.name, self.run, self.slot, self.takes, ()), **changes)

    def ask(self, ask: Ask | None = None, **changes: Any) -> Batch | None:
        answer = self.send("/api/work/", ask or self.new_ask(**changes))
        if answer.status_code == 204:
            return None
        assert answer.status_code == 200, answer.content
        return msgspec.convert(answer.json()["batch"], Batch)

    def take(self) -> Batch:
        """Send a heartbeat, and take a batch."""
        self.beat()
        batch = self.ask()
        assert batch is not None
        return batch

    def post(self, job: str, **values: Any) -> PostAnswer:
        answer = self.send(f"/api/work/{job}/", self.new_post(**values))
        assert answer.status_code == 200, answer.content
        return msgspec.convert(answer.json()["answer"], PostAnswer)

    def new_post(self, **values: Any) -> Post:
        return Post(self.name, self.run, self.slot, **values)

    def progress(self, game: JobGame, *moves: str, from_ply: int = 0) -> Progress:
        return Progress(game.key, game.attempt, from_ply, tuple((move, "") for move in moves), 900, None)
