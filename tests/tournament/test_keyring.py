"""The keys of workers on the site: who gets one, and when it stops being valid."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from django.db import DatabaseError
from django.test import Client
from django.utils import timezone

from engines.release import RELEASE
from tests.support.schedule import make_user
from tournament import keyring
from tournament.keyring import SiteKeyring
from tournament.models import Token, User, WorkerKey
from tournament.services.accounts import worker_keys
from tournament.services.accounts.tokens import create_token, revoke
from tournament.services.accounts.worker_keys import WorkerNameError, WorkerNameTaken, register_worker
from workers.bundles.bundle_site import PROTOCOL_HEADER
from workers.jobs import PROTOCOL
from workers.service.messaging.signing import parse_key

pytestmark = pytest.mark.django_db
EAST, WEST = "players@east", "players@west"


@pytest.fixture
def stan() -> User:
    return make_user("stan", staff=True)


@pytest.fixture
def token(stan: User) -> Token:
    return create_token(stan, "east", ["worker"])[0]


def key_of(name: str) -> bytes | None:
    """As a process sees it that has not looked it up before."""
    return SiteKeyring().key_of(name, "records")


def register(name: str, token: Token | None) -> bytes:
    return parse_key(register_worker(name, token, timezone.now()).key)


def test_a_token_gets_one_key_for_a_name_however_often_it_asks(token: Token) -> None:
    key = register(EAST, token)
    assert register(EAST, token) == key == key_of(EAST) == SiteKeyring().key_for(f"games.{EAST}")
    assert SiteKeyring().key_of(EAST, "beat") is None
    assert register(WEST, token) != key


def test_another_token_cannot_take_the_name(token: Token, stan: User) -> None:
    key = register(EAST, token)
    with pytest.raises(WorkerNameTaken, match="another token has registered the worker players@east"):
        register(EAST, create_token(stan, "west", ["worker"])[0])
    assert key_of(EAST) == key


def test_a_name_of_the_site_s_own_worker_is_taken_too_and_the_site_takes_any(token: Token) -> None:
    own = register(EAST, None)
    with pytest.raises(WorkerNameTaken):
        register(EAST, token)
    assert register(EAST, None) == own
    lent = register(WEST, token)
    assert register(WEST, None) != lent
    assert WorkerKey.objects.get(name=WEST).token is None


def test_a_revoked_token_revokes_its_keys_and_frees_their_names(token: Token, stan: User) -> None:
    key = register(EAST, token)
    revoke(token)
    assert key_of(EAST) is None
    assert WorkerKey.objects.get().revoked_at is not None
    assert register(EAST, create_token(stan, "west", ["worker"])[0]) == key_of(EAST) != key


@pytest.mark.parametrize("field", ["is_active", "is_staff"])
def test_a_key_is_worth_nothing_when_its_owner_does_not_run_the_site_any_more(
    token: Token, stan: User, field: str
) -> None:
    register(EAST, token)
    User.objects.filter(pk=stan.pk).update(**{field: False})
    assert key_of(EAST) is None


def test_a_token_registers_so_many_new_names_a_day(
    token: Token, stan: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each name has a quota of messages of its own."""
    monkeypatch.setattr(worker_keys, "MOST_NEW_NAMES", 2)
    key = register(EAST, token)
    register(WEST, token)
    with pytest.raises(WorkerNameError, match="has registered 2 workers within a day"):
        register("players@north", token)
    assert key_of("players@north") is None
    assert register(EAST, token) == key
    register("players@north", create_token(stan, "north", ["worker"])[0])
    WorkerKey.objects.filter(name=WEST).update(created_at=timezone.now() - datetime.timedelta(days=2))
    register("players@south", token)


@pytest.mark.parametrize(
    "name", ["", "site", "east", "a b@east", "players@east/1", "records", "x" * 41 + "@e"]
)
def test_a_worker_s_name_has_a_place_and_no_odd_characters(name: str, token: Token) -> None:
    with pytest.raises(WorkerNameError, match="is not the name of a worker"):
        register(name, token)


def test_the_site_s_own_key_is_no_worker_s(settings: Any) -> None:
    ring = SiteKeyring()
    settings.SECRET_KEY = "one"
    first = ring.key_for("records")
    assert first == ring.key_of("site", "records")
    assert first == ring.key_for("beat") == ring.key_of("site", "beat")
    assert ring.key_of("site", f"games.{EAST}") is None
    settings.SECRET_KEY = "another"
    assert ring.key_for("records") != first


def test_a_process_learns_of_a_revocation_after_some_seconds(
    token: Token, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr(keyring.time, "monotonic", lambda: clock[0])  # type: ignore[attr-defined]
    key, ring = register(EAST, token), SiteKeyring()
    assert ring.key_of(EAST, "records") == key
    revoke(token)
    clock[0] += keyring.CACHE_SECONDS / 2
    assert ring.key_of(EAST, "records") == key
    clock[0] += keyring.CACHE_SECONDS
    assert ring.key_of(EAST, "records") is None


def test_while_the_database_is_away_the_last_known_key_remains(
    token: Token, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyring, "CACHE_SECONDS", 0)
    key, ring = register(EAST, token), SiteKeyring()
    assert ring.key_of(EAST, "records") == key

    def away(*_: object) -> None:
        raise DatabaseError("server closed the connection unexpectedly")

    monkeypatch.setattr("tournament.models.workers.WorkerKeyQuerySet.find", away)
    assert ring.key_of(EAST, "records") == key
    assert ring.key_of(WEST, "records") is None


# Over HTTP


def ask(text: str, **form: str) -> tuple[int, dict[str, Any]]:
    headers = {"Authorization": f"Bearer {text}", PROTOCOL_HEADER: str(PROTOCOL)}
    answer = Client().post("/api/workers/", form, headers=headers)
    return answer.status_code, answer.json()


def test_a_worker_registers_with_its_token_and_gets_its_key(stan: User) -> None:
    _, text = create_token(stan, "east", ["worker"])
    status, answer = ask(text, name=EAST, queue="games")
    assert (status, answer["name"], parse_key(answer["key"])) == (200, EAST, key_of(EAST))
    assert ask(text, name=EAST, queue="games")[1] == answer


@pytest.mark.parametrize(("given", "older"), [("1", "the worker"), ("", "the worker"), ("99", "the site")])
def test_a_worker_whose_messages_have_another_version_is_refused_by_a_sentence(
    stan: User, given: str, older: str
) -> None:
    """Workers of the first release send no version, and print the sentence of status 403."""
    _, text = create_token(stan, "east", ["worker"])
    headers = {"Authorization": f"Bearer {text}"} | ({PROTOCOL_HEADER: given} if given else {})
    for answer in (
        Client().get("/api/bundles/", headers=headers),
        Client().post("/api/workers/", {"name": EAST, "queue": "games"}, headers=headers),
    ):
        assert answer.status_code == 403
        sentence = answer.json()["error"]
        assert sentence.startswith(f"This worker and the site of release {RELEASE} do not understand")
        assert sentence.endswith(f"of their messages): update {older}.")
    assert not WorkerKey.objects.exists()


def test_a_registration_that_is_refused_says_why(stan: User) -> None:
    _, text = create_token(stan, "east", ["worker"])
    _, other = create_token(stan, "west", ["worker"])
    _, reader = create_token(stan, "reader", ["read"])
    ask(text, name=EAST, queue="games")
    for told, form, expected in (
        (
            other,
            {"name": EAST, "queue": "games"},
            (409, "Another token has registered the worker players@east."),
        ),
        (
            text,
            {"name": "site", "queue": "games"},
            (400, "'site' is not the name of a worker, such as 'players@east'."),
        ),
        (text, {"name": WEST, "queue": "records"}, (400, "The queue is one of games, validation.")),
        (reader, {"name": WEST, "queue": "games"}, (403, "This token lacks the scope worker.")),
        ("duarena_x", {"name": WEST, "queue": "games"}, (401, "This token is unknown or has been revoked.")),
    ):
        status, answer = ask(told, **form)
        assert (status, answer["error"]) == expected
    User.objects.update(is_staff=False)
    assert ask(text, name=EAST, queue="games")[0] == 403
    assert list(WorkerKey.objects.values_list("name", flat=True)) == [EAST]


def test_the_token_of_the_settings_registers_workers_until_another_takes_its_place(settings: Any) -> None:
    first, second = (f"duarena_{letter * 40}" for letter in "ab")
    assert ask(first, name=EAST, queue="games")[0] == 401
    settings.WORKER_TOKEN = first
    assert ask(first, name=EAST, queue="games")[0] == 200
    assert ask(first, name=WEST, queue="validation")[0] == 200
    owner = User.objects.get()
    assert (owner.is_staff, owner.has_usable_password()) == (True, False)
    settings.WORKER_TOKEN = second
    assert ask(second, name=EAST, queue="games")[0] == 200
    assert ask(first, name=EAST, queue="games")[0] == 401
    Token.objects.update(revoked_at=timezone.now())
    assert ask(second, name=EAST, queue="games")[0] == 401


@pytest.mark.parametrize("text", ["", "duarena_", "duarena_short"])
def test_a_short_token_in_the_settings_is_none(settings: Any, text: str) -> None:
    settings.WORKER_TOKEN = text
    assert ask(text, name=EAST, queue="games")[0] == 401
    assert not User.objects.exists()
