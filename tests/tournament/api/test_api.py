"""The site's API: it requires a token, and every answer has the same form."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from tests.support.hostile_zips import HOSTILE, SITE
from tests.support.schedule import OnCommit, make_user, make_worker, news, pack_bot
from tests.support.schedule import ask as take
from tournament.models import Allowance, Bot, BotVersion, Bundle, Token, User
from tournament.services.accounts import tokens
from tournament.services.accounts.tokens import TokenError, TooMuch, create_token, find_token, revoke, spend
from tournament.services.uploads import validation
from tournament.services.uploads.submission import submit_bundle
from workers.bundles.bundle_site import PROTOCOL_HEADER
from workers.jobs import PROTOCOL, ComplianceEnding, Finding

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
FAULT = Finding("legal moves", "duploline", "illegal move", "read it", "> go", "Traceback", is_grave=True)


@pytest.fixture
def ada() -> User:
    return make_user()


@pytest.fixture
def token(ada: User) -> str:
    return create_token(ada, "shell", ["bots:upload"])[1]


def ask(path: str, token: str = "", **more: Any) -> HttpResponse:
    """A request of a program without cookies, with the CSRF check enabled."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    headers |= more.pop("headers", {})
    client = Client(enforce_csrf_checks=True)
    data = more.pop("data", None)
    call = client.get if data is None else client.post
    return call(path, data, headers=headers, **more)  # type: ignore[return-value]


def answer_of(response: HttpResponse, status: int) -> dict[str, Any]:
    """The JSON of an answer with this status; checks the common form."""
    assert response.status_code == status
    assert response["Content-Type"] == "application/json"
    assert "no-store" in response["Cache-Control"]
    answer: dict[str, Any] = json.loads(response.content)
    assert answer["ok"] is (status == 200)
    if status != 200:
        assert answer.keys() == {"ok", "error"}
        assert answer["error"].endswith(".")
        assert "\n" not in answer["error"]
    return answer


def upload(token: str, data: bytes | None = None, **more: str) -> HttpResponse:
    content = pack_bot() if data is None else data
    form = {"bundle": SimpleUploadedFile("bot.zip", content), **more}
    return ask("/api/bots/", token, data=form)


def test_a_bundle_is_uploaded_and_followed_with_one_token(
    token: str, settings: Settings, on_commit: OnCommit
) -> None:
    settings.TRUST_UPLOADS = True
    checker = make_worker(name="checker", takes="checks")
    with on_commit():
        version = answer_of(upload(token, notes="first"), 200)["version"]
    assert (version["bot"], version["number"], version["state"]) == ("Stone Age", 1, "validating")
    assert version["page"] == "http://testserver/bots/stone-age/1/"
    assert take(checker) is not None
    row = BotVersion.objects.get()
    assert (row.notes, row.bot.owner.username) == ("first", "ada")  # type: ignore[union-attr]
    validation.record_news(news(row, ComplianceEnding.DONE, FAULT), timezone.now())
    version = answer_of(ask("/api/bots/stone-age/1/", token), 200)["version"]
    assert version["state"] == "refused"
    assert version["reason"] == "The compliance check 'legal moves' on duploline failed: illegal move."
    assert version["check"]["findings"] == [msgspec.to_builtins(FAULT)]


def test_where_uploads_are_not_run_the_answer_gives_the_reason(token: str, settings: Settings) -> None:
    settings.IS_LOCAL = True
    version = answer_of(upload(token), 200)["version"]
    assert version["state"] == "waiting"
    assert "./arena up --port 8123 --trust-uploads" in version["reason"]


@pytest.mark.parametrize("name", [name for name, hostile in HOSTILE.items() if hostile.found_by == SITE])
def test_a_hostile_archive_is_refused_with_a_sentence_and_leaves_nothing(
    name: str, token: str, settings: Settings
) -> None:
    answer = answer_of(upload(token, HOSTILE[name].make()), 400 if name == "an empty file" else 422)
    assert Allowance.objects.get().left >= tokens.MAX_ALLOWED - tokens.REQUEST_COST
    assert answer["error"].isprintable()
    assert not BotVersion.objects.exists()
    assert not settings.BUNDLES.exists()


def test_a_zip_over_the_site_s_limit_is_refused_with_a_sentence(token: str, settings: Settings) -> None:
    settings.MAX_BUNDLE_BYTES = 1000
    assert "a bundle at most 1000" in answer_of(upload(token, b"x" * 5000), 413)["error"]


@pytest.mark.parametrize("data", [{}, {"bundle": "words"}, {"notes": "alone"}])
def test_a_form_without_a_bundle_is_refused_with_a_sentence(data: dict[str, str], token: str) -> None:
    assert answer_of(ask("/api/bots/", token, data=data), 400)["error"] == "Choose a zip file."


@pytest.mark.parametrize("body", [b"", b"--x", b"--x\r\n\r\nfoo"])
def test_an_incomplete_form_is_answered_with_a_sentence(body: bytes, token: str) -> None:
    for kind in ("multipart/form-data; boundary=x", "multipart/form-data", "application/zip"):
        answer_of(ask("/api/bots/", token, data=body, content_type=kind), 400)


def lend(text: str, sha256: str = "") -> HttpResponse:
    return ask(f"/api/bundles/{sha256}", text, headers={PROTOCOL_HEADER: str(PROTOCOL)})


@pytest.fixture
def stored(ada: User) -> str:
    """The SHA-256 of an uploaded bundle."""
    return str(submit_bundle(ada, pack_bot()).bundle_id)


def test_a_worker_s_token_opens_every_bundle_and_nothing_else(stored: str) -> None:
    text = create_token(make_user("stan", staff=True), "east", ["worker"])[1]
    assert answer_of(lend(text), 200)["user"] == "stan"
    answer = lend(text, stored)
    assert (answer.status_code, answer.getvalue()) == (200, pack_bot())
    for path in ("/api/", "/api/bots/stone-age/1/"):
        assert answer_of(ask(path, text), 403)["error"].startswith("This token lacks the scope ")
    assert answer_of(upload(text), 403)


def test_a_missing_bundle_is_answered_with_a_sentence(stored: str) -> None:
    text = create_token(make_user("stan", staff=True), "east", ["worker"])[1]
    Bundle.objects.get(pk=stored).path.unlink()
    for sha256 in (stored, "0" * 64, "x"):
        assert answer_of(lend(text, sha256), 404)["error"].startswith("There is no bundle with this SHA-256")


def test_only_staff_has_tokens_for_workers_and_only_while_it_is_staff(ada: User, stored: str) -> None:
    with pytest.raises(TokenError, match="only staff can create tokens for workers"):
        create_token(ada, "mine", ["bots:upload", "worker"])
    stan = make_user("stan", staff=True)
    text = create_token(stan, "east", ["worker"])[1]
    User.objects.filter(pk=stan.pk).update(is_staff=False)
    assert "does not run this site" in answer_of(lend(text, stored), 403)["error"]
    assert "does not run this site" in answer_of(lend(text), 403)["error"]
    User.objects.filter(pk=stan.pk).update(is_staff=True)
    revoke(Token.objects.get(user=stan))
    assert answer_of(lend(text, stored), 401)


def test_other_tokens_open_no_bundles(stored: str) -> None:
    text = create_token(make_user("stan", staff=True), "shell", ["bots:upload", "logs:read"])[1]
    assert answer_of(lend(text, stored), 403)["error"] == "This token lacks the scope worker or worker: own."


@pytest.mark.parametrize("is_staff", [False, True])
def test_the_form_offers_tokens_for_workers_to_staff_alone(is_staff: bool) -> None:
    client = Client()
    client.force_login(make_user("stan", staff=is_staff))
    assert ('value="worker"' in client.get("/account/tokens/").content.decode()) == is_staff
    client.post("/account/tokens/", {"name": "east", "scopes": ["worker"]})
    assert Token.objects.exists() == is_staff


def test_a_program_can_ask_for_the_scopes_of_its_token(token: str) -> None:
    answer = answer_of(ask("/api/", token), 200)
    assert (answer["user"], answer["scopes"], answer["runs_uploads"]) == ("ada", ["bots:upload"], False)


# Who may


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Basic YTpi", "Bearer duarena_x", "Bearer x" + "y" * 5000]
)
def test_requests_without_a_valid_token_are_refused(header: str) -> None:
    client = Client()
    client.force_login(make_user("bob"))
    response = client.get("/api/", headers={"Authorization": header})
    answer_of(response, 401)  # type: ignore[arg-type]
    assert response["WWW-Authenticate"] == "Bearer"


def test_a_revoked_token_and_that_of_an_inactive_owner_are_refused(ada: User) -> None:
    one, text = create_token(ada, "one", ["logs:read"])
    _, other = create_token(ada, "other", ["logs:read"])
    revoke(one)
    answer_of(ask("/api/", text), 401)
    answer_of(ask("/api/", other), 200)
    User.objects.filter(pk=ada.pk).update(is_active=False)
    answer_of(ask("/api/", other), 401)


def test_a_token_permits_only_what_its_scopes_permit(ada: User, token: str) -> None:
    answer_of(upload(token), 200)
    _, reader = create_token(ada, "reader", ["logs:read"])
    answer_of(ask("/api/bots/stone-age/1/", reader), 200)
    assert answer_of(upload(reader, b"x"), 403)["error"] == "This token lacks the scope bots:upload."


def test_another_user_s_version_is_not_found(token: str) -> None:
    answer_of(upload(token), 200)
    _, rival = create_token(make_user("bob"), "b", ["logs:read", "bots:upload"])
    answer_of(ask("/api/bots/stone-age/1/", rival), 404)
    answer_of(ask("/api/bots/stone-age/2/", token), 404)
    answer_of(ask(f"/api/bots/stone-age/{10**30}/", token), 404)


def test_other_addresses_and_methods_are_answered_with_a_sentence(token: str) -> None:
    answer_of(ask("/api/nothing/here", token), 404)
    response = ask("/api/bots/", token)
    answer_of(response, 405)
    assert response["Allow"] == "POST"


# Tokens


def test_only_the_hash_of_a_token_is_kept(ada: User) -> None:
    row, text = create_token(ada, "shell", ["bots:upload"])
    assert text.startswith("duarena_")
    assert len(text) >= 50
    stored = json.dumps(list(Token.objects.values()), default=str)
    assert text not in stored
    assert text.removeprefix("duarena_") not in stored
    assert find_token(text, timezone.now()) == row


def test_the_last_use_is_known_to_the_minute(ada: User) -> None:
    row, text = create_token(ada, "shell", ["bots:upload"])
    start = timezone.now()
    for seconds, expected in ((0, 0), (30, 0), (90, 90)):
        find_token(text, start + timedelta(seconds=seconds))
        row.refresh_from_db()
        assert row.used_at == start + timedelta(seconds=expected)


def test_the_number_of_a_user_s_tokens_is_limited(ada: User) -> None:
    made = [create_token(ada, str(n), ["logs:read"])[0] for n in range(tokens.MAX_TOKENS)]
    with pytest.raises(tokens.TokenError, match="you have 20 tokens: revoke one first"):
        create_token(ada, "one more", ["logs:read"])
    revoke(made[0])
    create_token(ada, "one more", ["logs:read"])


def test_a_token_is_refused_from_its_end_on(ada: User) -> None:
    start = timezone.now()
    _, text = create_token(ada, "short", ["logs:read"], ends_at=start + timedelta(hours=1))
    assert find_token(text, start + timedelta(minutes=59)) is not None
    assert find_token(text, start + timedelta(hours=1)) is None
    with pytest.raises(TokenError, match="choose an end in the future"):
        create_token(ada, "late", ["logs:read"], ends_at=start)


def test_tokens_that_are_over_do_not_count_in_the_number_of_a_user_s_tokens(ada: User) -> None:
    for number in range(tokens.MAX_TOKENS):
        create_token(ada, str(number), ["logs:read"])
    Token.objects.update(ends_at=timezone.now())
    create_token(ada, "one more", ["logs:read"])


def test_a_token_for_one_bot_uploads_and_follows_that_bot_alone(ada: User, token: str) -> None:
    answer_of(upload(token), 200)
    answer_of(upload(token, pack_bot("Bronze Age")), 200)
    _, bound = create_token(ada, "ci", ["bots:upload"], bot=Bot.objects.get(slug="stone-age"))
    answer_of(upload(bound, pack_bot(version="2")), 200)
    for name in ("Bronze Age", "Iron Age"):
        error = answer_of(upload(bound, pack_bot(name, version="2")), 403)["error"]
        assert error == f"The bundle is of {name!r}, and this token is for 'Stone Age' alone."
    assert not Bot.objects.filter(slug="iron-age").exists()
    answer_of(ask("/api/bots/stone-age/1/", bound), 200)
    answer_of(ask("/api/bots/bronze-age/1/", bound), 404)


def test_a_token_is_for_one_of_the_user_s_own_bots_and_no_worker_s(ada: User) -> None:
    bots = [Bot.objects.register(user, name) for user, name in ((ada, "Ada"), (make_user("bob"), "Bob"))]
    with pytest.raises(TokenError, match="'Bob' is not one of your bots"):
        create_token(ada, "ci", ["bots:upload"], bot=bots[1])
    with pytest.raises(TokenError, match="cannot be for one bot alone"):
        create_token(ada, "home", ["worker: own"], bot=bots[0])


def test_the_page_creates_a_token_for_one_bot_with_an_end_and_shows_both(ada: User) -> None:
    client = Client()
    client.force_login(ada)
    bot = Bot.objects.register(ada, "Stone Age")
    other = Bot.objects.register(make_user("bob"), "Other")
    fields = {"name": "ci", "scopes": ["bots:upload", "tests:write"], "ends_at": "2199-05-06T07:08"}
    client.post("/account/tokens/", fields | {"bot": other.pk})
    assert not Token.objects.exists()
    client.post("/account/tokens/", fields | {"bot": bot.pk})
    token = Token.objects.get()
    assert (token.bot, token.scopes, str(token.ends_at)) == (
        bot,
        ["bots:upload", "tests:write"],
        "2199-05-06 07:08:00+00:00",
    )
    page = client.get("/account/tokens/").content.decode()
    assert f'only for <a href="{bot.get_absolute_url()}"><bdi>Stone Age</bdi></a>' in page
    assert "2199-05-06" in page
    Token.objects.update(ends_at=timezone.now())
    assert ">over<" in client.get("/account/tokens/").content.decode()


def test_too_many_requests_are_refused_until_time_has_passed(ada: User) -> None:
    now = timezone.now()
    for _ in range(6):
        spend(ada, tokens.UPLOAD_COST, now)
    with pytest.raises(TooMuch) as caught:
        spend(ada, tokens.UPLOAD_COST, now)
    spend(ada, tokens.UPLOAD_COST, now + timedelta(seconds=caught.value.seconds))
    spend(make_user("bob"), tokens.UPLOAD_COST, now)


def test_a_clock_set_back_does_not_change_the_allowance(ada: User) -> None:
    now = timezone.now()
    spend(ada, 200, now)
    spend(ada, 1, now - timedelta(days=1))
    assert Allowance.objects.get(user=ada).left == tokens.MAX_ALLOWED - 201


def test_the_answer_to_too_many_requests_states_when_to_try_again(
    token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "MAX_ALLOWED", 0.5)
    response = ask("/api/", token)
    assert "try again in" in answer_of(response, 429)["error"]
    assert int(response["Retry-After"]) >= 1


# Their page


@pytest.fixture
def client_of_ada(ada: User) -> Client:
    client = Client()
    client.force_login(ada)
    return client


def test_a_new_token_is_shown_once_and_works(client_of_ada: Client) -> None:
    made = client_of_ada.post(
        "/account/tokens/", {"name": "shell <b>", "scopes": ["bots:upload", "logs:read"]}
    )
    assert made["Location"] == "/account/tokens/"  # a reload of the next page creates no second token
    cookie = made.cookies["new-token"]
    assert (cookie["path"], cookie["httponly"], cookie["max-age"]) == ("/account/tokens/", True, 60)
    page = client_of_ada.get("/account/tokens/")
    text = page.context["text"]
    assert text in page.content.decode()
    assert "no-store" in page["Cache-Control"]
    assert "shell &lt;b&gt;" in page.content.decode()
    assert text not in client_of_ada.get("/account/tokens/").content.decode()
    assert answer_of(ask("/api/", text), 200)["scopes"] == ["bots:upload", "logs:read"]
    assert Token.objects.count() == 1
    client_of_ada.cookies["new-token"] = "duarena_of-somebody-else"
    assert "of-somebody-else" not in client_of_ada.get("/account/tokens/").content.decode()


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"name": "", "scopes": ["logs:read"]}, "This field is required."),
        ({"name": "x"}, "Choose what the token may do."),
        ({"name": "x", "scopes": ["admin"]}, "admin is not one of the available choices"),
        ({"name": "a\u202eb", "scopes": ["logs:read"]}, "an invisible character"),
    ],
)
def test_an_invalid_token_is_refused_with_a_sentence(
    client_of_ada: Client, form: dict[str, Any], words: str
) -> None:
    assert words in client_of_ada.post("/account/tokens/", form).content.decode()
    assert not Token.objects.exists()


def test_a_token_is_revoked_on_the_page(client_of_ada: Client, ada: User) -> None:
    row, text = create_token(ada, "shell", ["logs:read"])
    page = client_of_ada.post(f"/account/tokens/{row.pk}/revoke/", follow=True).content.decode()
    assert "The token shell is revoked." in page
    answer_of(ask("/api/", text), 401)
