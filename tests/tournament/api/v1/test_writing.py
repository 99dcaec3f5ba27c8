"""What programs may change with a token: each kind by its scope, and one for a bot for that bot alone."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.support.addresses import address_of
from tests.support.filled_site import LADDER, Site, add_version, finish
from tests.support.schedule import make_tournament, make_user, make_version, make_worker, pack_bot
from tournament.api.v1.operations import OPERATIONS
from tournament.api.v1.writing import organizing
from tournament.embedded.plan import ROOT
from tournament.forms import TournamentForm
from tournament.models import (
    Act,
    Allowance,
    Bot,
    BotSearch,
    BotVersion,
    Follow,
    KeptAnswer,
    Notice,
    Token,
    Tournament,
    User,
)
from tournament.services.accounts import answers, tokens
from tournament.services.accounts.tokens import create_token
from tournament.views.version_tests.starting import VersionTestForm

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
Ask = Callable[..., HttpResponse]
WRITING = [token.value for token in Token.Scope if token not in tokens.WORKERS]
TEST = {"candidate": "ada/2", "baseline": "ada/1", "ladder": LADDER, "most_games": 20}


@pytest.fixture
def ada() -> User:
    return make_user()


@pytest.fixture
def versions(ada: User) -> list[BotVersion]:
    """Two versions of Ada, one of Bea of the same owner, and one of Rex of another."""
    own = [make_version(name, owner=ada, games=(LADDER,)) for name in ("Ada", "Ada", "Bea")]
    return [*own, make_version("Rex", owner=make_user("rex"), games=(LADDER,))]


@pytest.fixture
def ask(ada: User) -> Ask:
    """Sends a request of a program of Ada with the given scopes."""

    def send(
        path: str, body: object = None, *scopes: str, user: User = ada, bot: Bot | None = None, **more: Any
    ) -> HttpResponse:
        Token.objects.all().delete()
        text = create_token(user, "program", scopes or WRITING, bot=bot)[1]
        headers = {"Authorization": f"Bearer {text}", **more.pop("headers", {})}
        client, method = Client(enforce_csrf_checks=True), more.pop("method", "POST")
        if isinstance(body, dict) and "bundle" in body:
            sent: dict[str, Any] = {"data": body}
            return client.post(f"/api/v1/{path}", headers=headers, **sent)  # type: ignore[return-value]
        data = json.dumps(body) if body is not None else ""
        return client.generic(  # type: ignore[return-value]
            method, f"/api/v1/{path}", data, content_type="application/json", headers=headers
        )

    return send


def bundle(name: str = "Stone Age", **more: str) -> dict[str, Any]:
    return {"bundle": SimpleUploadedFile("bot.zip", pack_bot(name)), **more}


def read(response: HttpResponse, status: int) -> dict[str, Any]:
    """The JSON of an answer with this status."""
    assert response.status_code == status, response.content
    answer: dict[str, Any] = json.loads(response.content)
    assert ("error" in answer) == (status >= 400)
    return answer


# The examples of the documentation


def test_the_commands_of_the_documentation_do_what_they_say(ada: User) -> None:
    for name, owner in (("Ada", ada), ("Rex", make_user("rex"))):
        make_version(name, owner=owner, games=(LADDER,))
    text = create_token(ada, "program", WRITING)[1]
    section = (ROOT / "docs" / "api.md").read_text().partition("\n## Tokens")[2].partition("\n## Client")[0]
    statuses = []
    for command in re.findall(r"^curl (.*)$", section.replace("\\\n", " "), re.MULTILINE):
        words = shlex.split(command.replace("$DUARENA_TOKEN", text))
        options = [(one, words[at + 1]) for at, one in enumerate(words) if one in {"-H", "-F", "-d"}]
        headers = dict(value.split(": ", 1) for one, value in options if one == "-H")
        form: dict[str, Any] = dict(value.split("=", 1) for one, value in options if one == "-F")
        if form:
            assert form.pop("bundle") == "@bot.zip"
            form |= bundle()
        path, client = words[-1].removeprefix("https://duarena.example"), Client(headers=headers)
        if texts := [value for one, value in options if one == "-d"]:
            answer = client.post(path, texts[0], content_type="application/json")
        else:
            answer = client.post(path, form) if form else client.get(path)
        statuses.append(answer.status_code)
    assert statuses == [200, 200, 201, 201]


# Uploads


def test_a_dry_run_makes_all_checks_and_stores_nothing(ask: Ask) -> None:
    answer = read(ask("bots/", bundle(dry_run="1")), 200)
    assert (answer["bot"], answer["number"], answer["dry_run"]) == ("Stone Age", None, True)
    assert not Bot.objects.exists()
    uploaded = read(ask("bots/", bundle(notes="first")), 201)
    assert (uploaded["slug"], uploaded["number"], uploaded["sha256"]) == ("stone-age", 1, answer["sha256"])
    assert read(ask("bots/", bundle(dry_run="1")), 422)["error"].startswith("The same bytes are already")
    assert "dry_run" in read(ask("bots/", bundle(dry_run="perhaps")), 400)["error"]
    assert BotVersion.objects.get().notes == "first"


def test_a_validation_is_followed_at_the_address_of_the_answer(ask: Ask) -> None:
    url = read(ask("bots/", bundle()), 201)["url"]
    path = url.removeprefix("http://testserver/api/v1/")
    found = read(ask(path, None, "logs:read", method="GET"), 200)
    assert (found["bot"], found["state"], found["check"], found["games"]) == (
        "Stone Age",
        "waiting",
        None,
        [],
    )


def test_a_refused_upload_costs_no_more_than_another_request(ask: Ask, ada: User) -> None:
    read(ask("bots/", {"bundle": SimpleUploadedFile("bot.zip", b"no zip")}), 422)
    read(ask("bots/", {"bundle": "words"}), 400)
    assert Allowance.objects.get().left >= tokens.MAX_ALLOWED - 2 * tokens.REQUEST_COST


def test_a_token_for_one_bot_uploads_that_bot_alone(ask: Ask, ada: User) -> None:
    bound = Bot.objects.register(ada, "Stone Age")
    read(ask("bots/", bundle(), bot=bound), 201)
    for more in ({}, {"dry_run": "1"}):
        read(ask("bots/", bundle("Iron Age", **more), bot=bound), 403)
    assert Bot.objects.count() == 1


# Version tests


@pytest.mark.usefixtures("versions")
def test_a_version_test_is_started_with_the_values_of_its_page_and_stopped(ask: Ask) -> None:
    event = read(ask("version-tests/", TEST, "tests:write"), 201)
    test = Tournament.objects.get(slug=event["slug"]).version_test
    assert (test.elo0, test.elo1, test.most_pairs) == (0, 20, 10)
    stopped = read(ask(f"version-tests/{event['slug']}/stop/", None, "tests:write"), 200)
    assert stopped["state"] == "cancelled"
    assert read(ask(f"version-tests/{event['slug']}/stop/"), 409)["error"].endswith("is over already.")


@pytest.mark.parametrize(
    ("changes", "status", "error"),
    [
        ({"candidate": "ada/9"}, 422, "candidate: there is no version 'ada/9'."),
        ({"candidate": "rex"}, 422, "candidate: 'Rex v1' is not a valid version of your bots."),
        ({"baseline": "ada/2"}, 400, "baseline: Choose two different versions."),
        (
            {"ladder": "chess"},
            400,
            "ladder: Select a valid choice. chess is not one of the available choices.",
        ),
        ({"bounds": "own", "elo0": 3}, 400, "elo1: Enter a difference in normalized Elo."),
        ({"most_games": 10**9}, 400, "most_games: A version test has at most"),
        ({"time_control": "now"}, 400, "time_control: "),
        ({"most_games": "many"}, 400, "The body is wrong: Expected `int`, got `str` - at `$.most_games`."),
        ({"speed": 1}, 400, "The body is wrong: Object contains unknown field `speed`."),
    ],
)
@pytest.mark.usefixtures("versions")
def test_bad_values_of_a_version_test_are_refused_by_name(
    ask: Ask, changes: dict[str, Any], status: int, error: str
) -> None:
    assert read(ask("version-tests/", TEST | changes), status)["error"].startswith(error)
    assert not Tournament.objects.exists()


def test_a_token_for_one_bot_tests_that_bot_alone(ask: Ask, versions: list[BotVersion]) -> None:
    bea = versions[2].bot
    assert read(ask("version-tests/", TEST, bot=bea), 403)["error"] == "This token is for 'Bea' alone."
    slug = read(ask("version-tests/", TEST, bot=versions[0].bot), 201)["slug"]
    read(ask(f"version-tests/{slug}/stop/", bot=bea), 403)


# Tournaments


@pytest.mark.usefixtures("versions")
def test_a_tournament_is_created_started_paused_resumed_and_cancelled(ask: Ask) -> None:
    values = {"name": "Spring", "bots": ["ada", "bea/1", "rex"], "ladders": [LADDER], "pairs": 1}
    draft = read(ask("tournaments/", values, "events:write"), 201)
    assert (draft["state"], draft["kind"]) == ("draft", "round-robin")
    slug, states = draft["slug"], []
    for action in ("start", "pause", "resume", "cancel", "continue"):
        event = read(ask(f"tournaments/{slug}/{action}/"), 200)
        slug = event["slug"]
        states.append(event["state"])
    assert states == ["running", "paused", "running", "cancelled", "running"]
    tournament = Tournament.objects.get()
    assert (tournament.time_control, tournament.opening_plies, tournament.rated) == ("5+0.1", 4, True)
    assert "is running" in read(ask(f"tournaments/{slug}/start/"), 409)["error"]
    assert not Act.objects.exists()


@pytest.mark.parametrize(
    ("changes", "status", "error"),
    [
        ({"bots": ["ada"]}, 400, "bots: Choose at least two bots."),
        ({"bots": ["ada", "ada/1"]}, 422, "bots: there is no active version 'ada/1'."),
        ({"bots": ["ada", "nobody"]}, 422, "bots: there is no active version 'nobody'."),
        ({"kind": "league"}, 400, "kind: "),
        ({"pairs": 0}, 400, "pairs: "),
        ({"starts_at": "9999-12-31T23:59:00-05:00"}, 400, "starts_at: no calendar has this time."),
        ({"bots": ["a\0b"]}, 400, "The body is wrong: Expected `str` matching regex"),
        ({"name": "a\0b"}, 400, "name: "),
        ({"book": "z9"}, 422, "book: "),
        ({"rated_off_terms": True}, 403, "rated_off_terms: only staff can choose it."),
    ],
)
def test_bad_values_of_a_tournament_are_refused_by_name(
    ask: Ask, versions: list[BotVersion], changes: dict[str, Any], status: int, error: str
) -> None:
    BotVersion.objects.filter(pk=versions[0].pk).update(state="withdrawn")
    values = {"name": "Spring", "bots": ["ada", "bea"], "ladders": [LADDER]} | changes
    assert read(ask("tournaments/", values), status)["error"].startswith(error)
    assert not Tournament.objects.exists()


@pytest.mark.usefixtures("versions")
def test_many_bots_are_found_at_once_and_too_many_refused(ask: Ask, versions: list[BotVersion]) -> None:
    values = {"name": "Crowd", "ladders": [LADDER]}

    def queries(*bots: str) -> int:
        with CaptureQueriesContext(connection) as counted:
            read(ask("tournaments/", values | {"bots": bots}), 201)
        return len(counted)

    first, few, more = queries("ada", "bea"), queries("ada", "rex"), queries("ada/2", "rex", "bea")
    assert few == more <= first
    error = read(ask("tournaments/", values | {"bots": ["ada"] * 5001}), 400)["error"]
    assert error == "The body is wrong: Expected `array` of length <= 5000 - at `$.bots`."


@pytest.mark.usefixtures("versions")
def test_a_dry_run_of_a_tournament_makes_its_checks_and_stores_nothing(ask: Ask) -> None:
    values = {"name": "Spring", "bots": ["ada", "rex"], "ladders": [LADDER], "dry_run": True}
    tried = read(ask("tournaments/", values, "events:write"), 200)
    assert (tried["name"], tried["kind"], tried["slug"], tried["page"]) == ("Spring", "round-robin", "", "")
    assert tried["dry_run"]
    assert read(ask("tournaments/", values | {"book": "z9"}), 422)["error"].startswith("book: ")
    assert not Tournament.objects.exists()


@pytest.mark.usefixtures("versions")
def test_a_draft_of_another_user_is_not_found_and_a_public_tournament_cannot_be_controlled(ask: Ask) -> None:
    rival = make_user("bob")
    for running in (False, True):
        slug = make_tournament(owner=rival, running=running, bots=2, name=f"Own {running}").slug
        read(ask(f"tournaments/{slug}/cancel/"), 404)


def test_staff_that_controls_another_s_tournament_is_logged(ask: Ask) -> None:
    slug = make_tournament(owner=make_user("bob"), bots=2).slug
    read(ask(f"tournaments/{slug}/pause/", user=make_user("stan", staff=True)), 200)
    assert Act.objects.get().deed == "paused it"


def test_own_bots_are_entered_and_withdrawn(ask: Ask, versions: list[BotVersion]) -> None:
    until = timezone.now() + timedelta(days=1)
    rex = versions[3].bot.owner
    values = {"name": "Open", "ladders": [LADDER], "entry_until": until.isoformat()}
    slug = read(ask("tournaments/", values, user=rex), 201)["slug"]
    slug = read(ask(f"tournaments/{slug}/announce/", user=rex), 200)["slug"]
    read(ask(f"tournaments/{slug}/enter/", {"bot": "ada"}, "events:write"), 200)
    assert Tournament.objects.get().entries.get().version.bot == versions[0].bot
    assert "entered already" in read(ask(f"tournaments/{slug}/enter/", {"bot": "ada"}), 422)["error"]
    read(ask(f"tournaments/{slug}/enter/", {"bot": "rex"}), 422)
    read(ask(f"tournaments/{slug}/enter/", {"bot": "bea"}, bot=versions[0].bot), 403)
    read(ask(f"tournaments/{slug}/leave/", {"bot": "ada"}, bot=versions[2].bot), 403)
    read(ask(f"tournaments/{slug}/leave/", {"bot": "ada"}, "events:write"), 200)
    assert not Tournament.objects.get().entries.exists()


@pytest.mark.usefixtures("versions")
def test_a_short_match_is_started(ask: Ask) -> None:
    event = read(ask("bots/rex/match/", {"bot": "ada"}, "events:write"), 201)
    assert (event["state"], Tournament.objects.get().rated) == ("running", False)
    read(ask("bots/ada/match/", {"bot": "rex"}), 422)


def test_the_fields_of_both_bodies_are_those_of_the_pages(ada: User) -> None:
    staff = make_user("stan", staff=True)
    form = TournamentForm(user=staff, organizer=staff)
    assert set(organizing.NewTournament.__struct_fields__) - {"dry_run"} == set(form.fields)
    assert set(organizing.NewVersionTest.__struct_fields__) == set(VersionTestForm(user=ada).fields)


# Searches, following, reports


def test_a_position_is_searched_and_the_search_is_read_without_a_token(
    ask: Ask, versions: list[BotVersion]
) -> None:
    make_worker(takes="analysis")
    body = {"ladder": LADDER, "bot": "ada", "moves": ["c1+"], "seconds": 1}
    asked = read(ask("searches/", body, "play"), 201)
    assert (asked["number"], asked["moves"], asked["missing"], asked["ended"]) == (2, ["c1+"], 1, None)
    found = Client().get(asked["url"].removeprefix("http://testserver"))
    assert read(found, 200) == asked  # type: ignore[arg-type]
    for changes, status, error in (
        ({"moves": ["c9+"]}, 400, "moves: illegal move 'c9+'"),
        ({"bot": "rex"}, 422, "bot: 'rex' does not answer on this ladder."),
        ({"ladder": "chess"}, 400, "ladder: 'chess' is not one of "),
        ({"seconds": 5}, 422, "Choose how long the bot searches."),
    ):
        assert read(ask("searches/", body | changes), status)["error"].startswith(error)
    read(ask("searches/", body, bot=versions[2].bot), 403)
    assert BotSearch.objects.count() == 1


@pytest.mark.usefixtures("versions")
def test_one_follows_and_unfollows(ask: Ask, ada: User) -> None:
    for path in ("bots/rex/", f"ladders/{LADDER}/", "people/rex/"):
        assert read(ask(f"{path}follow/", None, "play"), 200) == {"follows": True}
        assert Follow.objects.count() == 1
        assert read(ask(f"{path}follow/", None, "play", method="DELETE"), 200) == {"follows": False}
        assert not Follow.objects.exists()
    read(ask("bots/nobody/follow/"), 404)


def test_a_problem_with_a_game_is_reported_to_the_staff(ask: Ask) -> None:
    make_user("stan", staff=True)
    game = make_tournament(bots=2).games.earliest("pk")
    assert read(ask(f"games/{game.pk}/problem/", {"text": ""}), 400)["error"] == "text: Say what is wrong."
    read(ask(f"games/{game.pk}/problem/", {"text": "The clock", "ply": 99}, "play"), 201)
    assert "The clock" in Notice.objects.get().text


def test_a_program_reads_what_its_token_may_do(ask: Ask, versions: list[BotVersion]) -> None:
    for scopes, bot in ((["play"], None), (["bots:upload", "logs:read"], versions[0].bot)):
        answer = read(ask("token/", None, *scopes, bot=bot, method="GET"), 200)
        assert (answer["user"], answer["scopes"], answer["bot"]) == ("ada", scopes, bot and bot.slug)


def test_every_writing_operation_demands_a_scope_and_refuses_each_other(ask: Ask) -> None:
    """Guests get 401 and tokens without the scope 403, before anything else is looked at."""
    for one in OPERATIONS:
        if one.method == "GET":
            continue
        assert one.scopes, one.path
        path = one.path
        for pattern, value in (
            ("<slug:slug>", "x"),
            ("<slug:code>", "x"),
            ("<int:pk>", "1"),
            ("<str:name>", "x"),
        ):
            path = path.replace(pattern, value)
        read(Client().generic(one.method, f"/api/v1/{path}"), 401)  # type: ignore[arg-type]
        for scope in set(Token.Scope.values) - set(one.scopes):
            user = User.objects.filter(is_staff=True).first() or make_user("stan", staff=True)
            answer = ask(path, None, scope, user=user, method=one.method)
            assert read(answer, 403)["error"] == f"This token lacks the scope {' or '.join(one.scopes)}."


MATRIX: dict[str, tuple[object, tuple[int, int, int]]] = {
    "bots/stone-age/1/validation/ GET": (None, (404, 200, 404)),
    "bots/stone-age/match/": ({"bot": "brivalb"}, (201, 422, 201)),
    "version-tests/": (
        {"candidate": "stone-age/1", "baseline": "brivalb/1", "ladder": LADDER},
        (422, 422, 201),
    ),
    "version-tests/{tested}/stop/": (None, (404, 200, 200)),
    "tournaments/": ({"name": "New", "bots": ["stone-age", "brivalb"], "ladders": [LADDER]}, (201, 201, 201)),
    "tournaments/{draft}/start/": (None, (404, 200, 200)),
    "tournaments/{draft}/announce/": (None, (404, 422, 422)),
    "tournaments/{running}/pause/": (None, (404, 200, 200)),
    "tournaments/{running}/resume/": (None, (404, 409, 409)),
    "tournaments/{running}/cancel/": (None, (404, 200, 200)),
    "tournaments/{running}/continue/": (None, (404, 409, 409)),
    "tournaments/{running}/enter/": ({"bot": "brivalb"}, (409, 422, 409)),
    "tournaments/{running}/leave/": ({"bot": "brivalb"}, (409, 422, 409)),
    "tournaments/{draft}/follow/": (None, (404, 404, 404)),
    "games/{drafted}/problem/": ({"text": "?"}, (404, 201, 201)),
    "games/{drafted}/analysis/": ({"bot": "brivalb"}, (404, 404, 404)),
    "token/ GET": (None, (200, 200, 200)),
}
"""The body, and the status for another user, the owner and staff, each with all scopes."""


def test_each_user_may_do_with_all_scopes_what_the_pages_permit(site: Site, ask: Ask) -> None:
    found = {}
    for address, (body, _) in MATRIX.items():
        path, _, method = address.partition(" ")
        statuses = []
        for user in (site.rival, site.owner, site.staff):
            with transaction.atomic():  # what one user changes is undone for the next
                response = ask(address_of(site, path), body, user=user, method=method or "POST")
                statuses.append(response.status_code)
                transaction.set_rollback(True)
        found[address] = (body, tuple(statuses))
    assert found == MATRIX


def test_no_token_writes_about_games_that_it_does_not_show(site: Site, ask: Ask) -> None:
    game = site.validation.games.filter(ladder=LADDER)[0]
    finish(game, 2)
    make_worker(takes="analysis")
    other = add_version(site.owner, "Bea", games=[LADDER]).bot
    Bot.objects.update(answers=True)
    for path, body in (("analysis/", {"bot": "bea"}), ("problem/", {"text": "?"})):
        address = f"games/{game.pk}/{path}"
        for scopes, bot, status in (
            (["play"], None, 404),
            (["play", "logs:read"], other, 404 if path == "analysis/" else 403),
            (["play", "logs:read"], None, 201),
        ):
            read(ask(address, body, *scopes, user=site.owner, bot=bot), status)


def test_a_token_of_one_bot_does_not_learn_of_drafts(site: Site, ask: Ask) -> None:
    for slug in (site.draft.slug, "none"):
        for path in ("start/", "cancel/"):
            read(ask(f"tournaments/{slug}/{path}", user=site.owner, bot=site.white.bot), 403)
        for path in ("enter/", "leave/"):
            body = {"bot": site.white.bot.slug}
            read(ask(f"tournaments/{slug}/{path}", body, user=site.owner, bot=site.white.bot), 404)


# Repeats with a key


def keyed(key: str) -> dict[str, Any]:
    return {"headers": {"Idempotency-Key": key}}


@pytest.mark.usefixtures("versions")
def test_a_repeat_with_the_same_key_gets_the_first_answer_and_creates_nothing(ask: Ask) -> None:
    first = ask("version-tests/", TEST, **keyed("one"))
    again = ask("version-tests/", TEST, **keyed("one"))
    assert (first.status_code, first.content) == (again.status_code, again.content)
    assert first["Location"] == again["Location"]
    assert ("Idempotent-Replayed" in first, again["Idempotent-Replayed"]) == (False, "true")
    assert Tournament.objects.count() == 1
    error = read(ask("version-tests/", TEST | {"most_games": 22}, **keyed("one")), 422)["error"]
    assert error == "Idempotency-Key: you used this key for another request."
    read(ask("bots/rex/match/", {"bot": "ada"}, **keyed("one")), 422)


@pytest.mark.usefixtures("versions")
def test_a_repeat_gets_the_first_answer_also_when_a_new_request_would_be_refused(ask: Ask) -> None:
    requests: dict[str, dict[str, Any]] = {
        "version-tests/": TEST,
        "tournaments/": {"name": "Two", "bots": ["ada", "rex"], "ladders": [LADDER]},
        "bots/rex/match/": {"bot": "ada"},
    }
    first = {path: read(ask(path, body, **keyed(path)), 201) for path, body in requests.items()}
    BotVersion.objects.update(state=BotVersion.State.WITHDRAWN)
    for path, body in requests.items():
        read(ask(path, body), 422)
        assert read(ask(path, body, **keyed(path)), 201) == first[path]


@pytest.mark.usefixtures("versions")
def test_a_repeated_start_or_entry_is_no_conflict(ask: Ask) -> None:
    slug = read(ask("tournaments/", {"name": "Two", "bots": ["ada", "rex"], "ladders": [LADDER]}), 201)[
        "slug"
    ]
    soon = (timezone.now() + timedelta(days=1)).isoformat()
    is_open = read(ask("tournaments/", {"name": "Open", "entry_until": soon}), 201)["slug"]
    read(ask(f"tournaments/{is_open}/announce/"), 200)
    for path, body in (
        (f"tournaments/{slug}/start/", None),
        (f"tournaments/{is_open}/enter/", {"bot": "ada"}),
    ):
        first, again = (ask(path, body, **keyed(path)) for _ in range(2))
        assert read(first, 200) == read(again, 200)
        assert again["Idempotent-Replayed"] == "true"
        assert ask(path, body).status_code in {409, 422}


def test_a_key_is_of_one_bot_if_its_token_is(ask: Ask, versions: list[BotVersion]) -> None:
    first = read(ask("version-tests/", TEST, bot=versions[0].bot, **keyed("one")), 201)
    assert read(ask("version-tests/", TEST, bot=versions[0].bot, **keyed("one")), 201) == first
    for bot in (versions[2].bot, None):
        read(ask("version-tests/", TEST, bot=bot, **keyed("one")), 422)


def test_a_repeated_upload_is_the_same_request_though_its_form_has_another_boundary(ask: Ask) -> None:
    first, again = (ask("bots/", bundle(notes="x"), **keyed("up")) for _ in range(2))
    assert read(first, 201) == read(again, 201)
    assert BotVersion.objects.count() == 1
    read(ask("bots/", bundle("Iron Age"), **keyed("up")), 422)
    assert Allowance.objects.get().left < tokens.MAX_ALLOWED - tokens.UPLOAD_COST


@pytest.mark.usefixtures("versions")
def test_a_refused_request_is_not_remembered(ask: Ask) -> None:
    values = {"name": "Spring", "bots": ["ada", "rex"], "ladders": [LADDER]}
    read(ask("tournaments/", values | {"book": "z9"}, **keyed("one")), 422)
    assert not KeptAnswer.objects.exists()
    read(ask("tournaments/", values, **keyed("one")), 201)


@pytest.mark.usefixtures("versions")
def test_a_key_belongs_to_one_user_and_to_one_day(ask: Ask) -> None:
    values = {"name": "Spring", "bots": ["ada", "rex"], "ladders": [LADDER]}
    for user in (None, make_user("bob")):
        more = keyed("one") | ({} if user is None else {"user": user})
        read(ask("tournaments/", values, **more), 201)
    KeptAnswer.objects.update(created_at=timezone.now() - 2 * answers.KEPT)
    read(ask("tournaments/", values, **keyed("one")), 201)
    assert Tournament.objects.count() == 3


@pytest.mark.parametrize("key", ["", "x" * 201, "\x7f"])
def test_an_unusable_key_is_refused(ask: Ask, key: str) -> None:
    read(ask("bots/", bundle(), **keyed(key)), 400)
    assert not Bot.objects.exists()
