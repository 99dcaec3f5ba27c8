"""Requests with a key, killed or sent twice at once: something is created once, and answered alike."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from datetime import timedelta

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from tests.support.schedule import make_user
from tests.support.threads import at_once
from tests.tournament.test_killed_midway import PROGRAM, environment, killed_between_statements
from tournament.embedded.plan import ROOT
from tournament.models import Allowance, KeptAnswer, Tournament
from tournament.services.accounts.tokens import create_token

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
ACT = "request(*sys.argv[1:])"


@pytest.fixture
def request_() -> tuple[str, str, str]:
    """The path, body and headers of a request that creates a tournament."""
    text = create_token(make_user(), "program", ["events:write"])[1]
    values = {"name": "Open", "entry_until": (timezone.now() + timedelta(days=1)).isoformat()}
    headers = {"Authorization": f"Bearer {text}", "Idempotency-Key": "the key"}
    return "/api/v1/tournaments/", json.dumps(values), json.dumps(headers)


def send(path: str, body: str, headers: str) -> HttpResponse:
    client = Client(SERVER_NAME="127.0.0.1", headers=json.loads(headers))
    return client.post(path, body, content_type="application/json")  # type: ignore[return-value]


def test_a_request_that_is_killed_anywhere_creates_nothing_or_all_and_its_repeat_creates_once(
    request_: tuple[str, str, str],
) -> None:
    seen = set()
    for _ in killed_between_statements(ACT, *request_):
        seen.add((KeptAnswer.objects.count(), Tournament.objects.count()))
        assert send(*request_).status_code == 201
        assert (KeptAnswer.objects.count(), Tournament.objects.count()) == (1, 1)
        for model in (KeptAnswer, Tournament, Allowance):
            model.objects.all().delete()
    assert seen == {(0, 0), (1, 1)}


def test_a_process_that_is_killed_after_the_creation_and_before_its_answer_is_answered_later(
    request_: tuple[str, str, str],
) -> None:
    program = f"{PROGRAM}\nfrom tournament.api.v1.writing import once\nonce._created = kill\n{ACT}"
    command = (sys.executable, "-c", program, *request_)
    ended = subprocess.run(command, cwd=ROOT, env=environment(), check=False)
    assert ended.returncode == -signal.SIGKILL
    created = Tournament.objects.get()
    answer = send(*request_)
    assert (answer.status_code, answer["Idempotent-Replayed"]) == (201, "true")
    assert json.loads(answer.content)["slug"] == created.slug
    assert Tournament.objects.count() == 1


def test_of_two_requests_at_once_one_creates_and_the_other_gets_its_answer(
    request_: tuple[str, str, str],
) -> None:
    one, other = at_once(*[lambda: send(*request_)] * 2)
    assert (one.status_code, one.content) == (other.status_code, other.content)
    assert one.status_code == 201
    assert Tournament.objects.count() == 1
