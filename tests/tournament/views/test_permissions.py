"""Permissions of every address of the site, for every kind of visitor.

The table is checked against the resolver: an address without a line in it fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from tests.support.filled_site import LADDER, STDERR, Site, add_version
from tests.support.schedule import make_event, make_test
from tournament.models import Exam, Notice, Token, Tournament, Worker
from tournament.services.schedule.tournaments import cancel

VISITORS = ("anonymous", "another", "owner", "staff")
PUBLIC = (200, 200, 200, 200)
PRIVATE = (404, 404, 200, 200)
LOG_IN = (302, 200, 200, 200)
ENTRY = (200, 302, 302, 302)
AGAIN = (302, 302, 302, 302)
"""The password is asked for once more."""
NO_TOKEN = (401, 401, 401, 401)
"""``another`` is a user who owns neither White's bot nor a tournament, but Black's bot."""

EXPECTED: dict[str, tuple[str, tuple[int, int, int, int]]] = {
    "home": ("/", PUBLIC),
    "ladders": ("/ladders/", PUBLIC),
    "overall": ("/ladders/overall/", PUBLIC),
    "overall-scores": ("/ladders/overall/scores.csv", PUBLIC),
    "ladder": ("/ladders/dogon-kulei/", PUBLIC),
    "ladder-compare": ("/ladders/dogon-kulei/compare/?one=0&other=0", (404, 404, 404, 404)),
    "ladder-records": ("/ladders/dogon-kulei/records.pgn", PUBLIC),
    "ladder-ratings": ("/ladders/dogon-kulei/ratings.csv", PUBLIC),
    "ladder-feed": ("/ladders/dogon-kulei/feed.atom", PUBLIC),
    "bots": ("/bots/", PUBLIC),
    "bots-files": ("/bots/bots.csv", PUBLIC),
    "bot-ratings": ("/bots/stone-age/ratings.csv", PUBLIC),
    "bot-results": ("/bots/stone-age/results.json", PUBLIC),
    "bot-feed": ("/bots/stone-age/feed.atom", PUBLIC),
    "bot": ("/bots/stone-age/", PUBLIC),
    "version": ("/bots/stone-age/1/", PUBLIC),
    "bot-history": ("/bots/stone-age/ratings/dogon-kulei.json", PUBLIC),
    "bot-activity": ("POST /bots/stone-age/activity/", (403, 404, 302, 302)),
    "bot-compare": ("/bots/stone-age/compare/?with=nobody", (302, 302, 302, 302)),
    "bot-comparison": ("/bots/stone-age/against/brivalb/", PUBLIC),
    "comparison-results": ("/bots/stone-age/against/brivalb/results.csv", PUBLIC),
    "comparison-estimates": ("/bots/stone-age/against/brivalb/estimates.json", PUBLIC),
    "bundle": ("/bots/stone-age/1/bundle.zip", PRIVATE),
    "version-validate": ("POST /bots/stone-age/1/validate/", (403, 404, 302, 302)),
    "version-withdraw": ("POST /bots/stone-age/1/withdraw/", (403, 404, 302, 302)),
    "version-reinstate": ("POST /bots/stone-age/1/reinstate/", (403, 404, 404, 302)),
    "upload": ("/upload/", LOG_IN),
    "queue": ("/queue/", PUBLIC),
    "tournaments": ("/tournaments/", PUBLIC),
    "tournaments-files": ("/tournaments/tournaments.csv", PUBLIC),
    "tournament-new": ("/tournaments/new/", LOG_IN),
    "tournament": ("/tournaments/{draft}/", PRIVATE),
    "tournament-records": ("/tournaments/{draft}/records.pgn", PRIVATE),
    "tournament-standings": ("/tournaments/{draft}/standings.csv", PRIVATE),
    "tournament-crosstable": ("/tournaments/{draft}/crosstable.json", PRIVATE),
    "tournament-pairings": ("/tournaments/{staged}/pairings.csv", PRIVATE),
    "tournament-feed": ("/tournaments/{running}/feed.atom", PUBLIC),
    "person-feed": ("/people/olga/feed.atom", PUBLIC),
    "tournament-start": ("POST /tournaments/{draft}/start/", (403, 404, 302, 302)),
    "tournament-announce": ("POST /tournaments/{draft}/announce/", (403, 404, 302, 302)),
    "tournament-pause": ("POST /tournaments/{running}/pause/", (403, 404, 302, 302)),
    "tournament-resume": ("POST /tournaments/{running}/resume/", (403, 404, 302, 302)),
    "tournament-cancel": ("POST /tournaments/{running}/cancel/", (403, 404, 302, 302)),
    "tournament-extend": ("POST /tournaments/{running}/extend/", (403, 404, 302, 302)),
    "tournament-priority": ("POST /tournaments/{running}/priority/", (403, 404, 404, 302)),
    "tournament-enter": ("POST /tournaments/{running}/enter/", (403, 302, 302, 302)),
    "tournament-leave": ("POST /tournaments/{running}/leave/stone-age/", (403, 404, 302, 302)),
    "version-tests": ("/version-tests/", PUBLIC),
    "version-tests-files": ("/version-tests/version-tests.csv", PUBLIC),
    "version-test-pairs": ("/version-tests/{tested}/pairs.csv", PUBLIC),
    "version-test-new": ("/version-tests/new/", LOG_IN),
    "version-test": ("/version-tests/{tested}/", PUBLIC),
    "version-test-ratios": ("/version-tests/{tested}/ratios.json", PUBLIC),
    "version-test-stop": ("POST /version-tests/{tested}/stop/", (403, 404, 302, 302)),
    "games": ("/games/", PUBLIC),
    "games-export": ("/games/games.csv", PUBLIC),
    "game": ("/games/{drafted}/", PRIVATE),
    "game-embed": ("/games/{drafted}/embed/", PRIVATE),
    "game-svg": ("/games/{drafted}/0.svg", PRIVATE),
    "game-png": ("/games/{drafted}/0.png", PRIVATE),
    "game-engines": ("/games/engines.json?id={played_key}", PUBLIC),
    "game-record": ("/games/{played}.pgn", PUBLIC),
    "game-log": ("/games/{played}/log/white/", PRIVATE),
    "rules-list": ("/rules/", PUBLIC),
    "rules": ("/rules/dogon-kulei/", PUBLIC),
    "hard-positions": ("/rules/dogon-kulei/positions.json", PUBLIC),
    "example-svg": ("/rules/dogon-kulei/chain/1.svg", PUBLIC),
    "kit": ("/kit/", PUBLIC),
    "protocol": ("/protocol/", PUBLIC),
    "records": ("/records/", PUBLIC),
    "corrections": ("/records/annulled.csv", PUBLIC),
    "formats": ("/formats/", PUBLIC),
    "workers": ("/workers/", PUBLIC),
    "worker-quarantine": ("POST /workers/{worker}/quarantine/", (403, 404, 404, 302)),
    "worker-release": ("POST /workers/{worker}/release/", (403, 404, 404, 302)),
    "about": ("/about/", PUBLIC),
    "sign-up": ("/sign-up/", ENTRY),
    "account_signup": ("/sign-up/", ENTRY),
    "log-in": ("/log-in/", ENTRY),
    "account_login": ("/log-in/", ENTRY),
    "mfa_authenticate": ("/log-in/code/", (302, 302, 302, 302)),
    "account_reset_password": ("/password-reset/", PUBLIC),
    "account_reset_password_done": ("/password-reset/sent/", PUBLIC),
    "account_reset_password_from_key": ("/password-reset/1-wrong/", PUBLIC),
    "log-out": ("POST /log-out/", (302, 302, 302, 302)),
    "person": ("/people/olga/", PUBLIC),
    "person-ratings": ("/people/olga/ratings.csv", PUBLIC),
    "account": ("/account/", LOG_IN),
    "notices-read": ("POST /account/notices/read/", (403, 302, 302, 302)),
    "notice-read": ("POST /account/notices/{notice}/", (403, 404, 302, 404)),
    "password-change": ("/account/password/", LOG_IN),
    "account_email": ("/account/email/", LOG_IN),
    "account_confirm_email": ("/account/email/wrong/", PUBLIC),
    "account_reauthenticate": ("/account/again/", LOG_IN),
    "mfa_reauthenticate": ("/account/again/code/", (302, 302, 302, 302)),
    "mfa_index": ("/account/second-factor/", LOG_IN),
    "mfa_activate_totp": ("/account/second-factor/new/", AGAIN),
    "mfa_deactivate_totp": ("/account/second-factor/remove/", (302, 404, 404, 404)),
    "mfa_view_recovery_codes": ("/account/recovery-codes/", (302, 404, 404, 404)),
    "mfa_generate_recovery_codes": ("/account/recovery-codes/new/", AGAIN),
    "sessions": ("/account/sessions/", LOG_IN),
    "sessions-end": ("POST /account/sessions/end/", (403, 302, 302, 302)),
    "session-end": ("POST /account/sessions/{session}/end/", (403, 404, 302, 404)),
    "staff-log": ("/staff/log/", (302, 404, 404, 200)),
    "annulments": ("/staff/annul/", (302, 404, 404, 200)),
    "storage": ("/staff/storage/", (302, 404, 404, 200)),
    "tokens": ("/account/tokens/", LOG_IN),
    "token-revoke": ("POST /account/tokens/{token}/revoke/", (403, 404, 302, 404)),
    "api-about": ("/api/", NO_TOKEN),
    "api-upload": ("POST /api/bots/", NO_TOKEN),
    "api-version": ("/api/bots/stone-age/1/", NO_TOKEN),
    "api-bundles": ("/api/bundles/", NO_TOKEN),
    "api-bundle": (f"/api/bundles/{'0' * 64}", NO_TOKEN),
    "api-workers": ("POST /api/workers/", NO_TOKEN),
    "api-nothing": ("/api/secrets", (404, 404, 404, 404)),
    "boards-css": ("/boards.css", PUBLIC),
    "boards-css-hashed": ("/boards.0123456789ab.css", PUBLIC),
    "healthz": ("/healthz", PUBLIC),
    "robots": ("/robots.txt", PUBLIC),
    "favicon": ("/favicon.ico", (301, 301, 301, 301)),
}
"""The address by name, and the status for anonymous, another, owner and staff."""

SAME = {"account_login": "log-in", "account_signup": "sign-up"}
"""Second names, by which allauth knows an address."""

ALSO = {
    "a draft that was cancelled": ("/tournaments/{discarded}/", PRIVATE),
    "a draft's feed": ("/tournaments/{draft}/feed.atom", (404, 404, 404, 404)),
    "a validation's feed": ("/tournaments/{validation}/feed.atom", (404, 404, 404, 404)),
    "a refused bot": ("/bots/hopeless/", PRIVATE),
    "a refused bot's version": ("/bots/hopeless/1/", PRIVATE),
    "a refused bot's comparison": ("/bots/hopeless/against/stone-age/", PRIVATE),
    "a comparison with a refused bot": ("/bots/stone-age/against/hopeless/", PRIVATE),
    "a refused bot's ratings": ("/bots/hopeless/ratings/dogon-kulei.json", PRIVATE),
    "a refused bot's table of ratings": ("/bots/hopeless/ratings.csv", PRIVATE),
    "a refused bot's results": ("/bots/hopeless/results.csv", (404, 404, 404, 404)),
    "a refused bot's compared results": ("/bots/hopeless/against/stone-age/results.csv", PRIVATE),
    "a comparison with a refused bot's results": ("/bots/stone-age/against/hopeless/results.csv", PRIVATE),
    "a refused bot's estimates": ("/bots/stone-age/against/hopeless/estimates.csv", PRIVATE),
    "a person's ratings with nothing to show": ("/people/stan/ratings.csv", (404, 404, 404, 200)),
    "pairings of a round robin": ("/tournaments/{running}/pairings.csv", (404, 404, 404, 404)),
    "a tournament's pairs as a version test": ("/version-tests/{running}/pairs.csv", (404, 404, 404, 404)),
    "a refused bot's feed": ("/bots/hopeless/feed.atom", (404, 404, 404, 404)),
    "a refused version of a bot": ("/bots/brivalb/2/", (404, 200, 404, 200)),
    "a running tournament": ("/tournaments/{running}/", PUBLIC),
    "a running tournament's records": ("/tournaments/{running}/records.pgn", PUBLIC),
    "a version test as a tournament": ("/tournaments/{tested}/", (302, 302, 302, 302)),
    "a version test's records": ("/tournaments/{tested}/records.pgn", PUBLIC),
    "a version test's game": ("/games/{tested_game}/", PUBLIC),
    "cancelling a version test": ("POST /tournaments/{tested}/cancel/", (403, 404, 302, 302)),
    "a tournament as a version test": ("/version-tests/{running}/", (404, 404, 404, 404)),
    "a draft as a version test": ("/version-tests/{draft}/", (404, 404, 404, 404)),
    "stopping a tournament as a version test": ("POST /version-tests/{running}/stop/", (403, 404, 404, 404)),
    "a validation": ("/tournaments/{validation}/", PRIVATE),
    "a validation's standings": ("/tournaments/{validation}/standings.json", PRIVATE),
    "a validation's crosstable": ("/tournaments/{validation}/crosstable.csv", PRIVATE),
    "standings of an unknown kind": ("/tournaments/{running}/standings.xml", (404, 404, 404, 404)),
    "a validation's game": ("/games/{validated}/", PRIVATE),
    "a validation's engines": ("/games/engines.json?id={validated_key}", PRIVATE),
    "no game's engines": ("/games/engines.json?id=%00", (404, 404, 404, 404)),
    "a validation's records": ("/tournaments/{validation}/records.pgn", PRIVATE),
    "a person with nothing to show": ("/people/stan/", (404, 404, 404, 200)),
    "nobody's page": ("/people/%00/", (404, 404, 404, 404)),
    "a comparison with itself": ("/bots/stone-age/against/stone-age/", (404, 404, 404, 404)),
    "a played game": ("/games/{played}/", PUBLIC),
    "a live game": ("/games/{live}/", PUBLIC),
    "a game without a record": ("/games/{live}.pgn", (404, 404, 404, 404)),
    "the opponent's log": ("/games/{played}/log/black/", (404, 200, 404, 200)),
    "a log of nobody": ("/games/{played}/log/referee/", (404, 404, 404, 404)),
    "the rival's bundle": ("/bots/brivalb/1/bundle.zip", (404, 200, 404, 200)),
    "entering another's draft": ("POST /tournaments/{draft}/enter/", (403, 404, 302, 302)),
    "starting another's running tournament": ("POST /tournaments/{running}/start/", (403, 404, 302, 302)),
}
CASES = {**EXPECTED, **ALSO}


@pytest.fixture(autouse=True)
def _bundles(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Store the bundles of both bots, so that a refusal is not caused by a missing file."""
    monkeypatch.setattr(settings, "BUNDLES", tmp_path)
    add_version(site.owner, "Hopeless", state="refused")
    add_version(site.rival, site.black.bot.name, state="refused")
    for version in (site.white, site.black):
        version.bundle.path.parent.mkdir(parents=True, exist_ok=True)
        version.bundle.path.write_bytes(b"zip")


@pytest.mark.parametrize("name", CASES)
def test_every_address_answers_each_visitor_with_the_status_of_the_table(
    site: Site, as_user: Callable[..., Client], name: str
) -> None:
    method_and_path, expected = CASES[name]
    statuses = []
    for visitor in VISITORS:
        with transaction.atomic():  # what one visitor changes is undone for the next
            client = _client(site, as_user, visitor)
            statuses.append(_ask(client, address_of(site, method_and_path)).status_code)
            transaction.set_rollback(True)
    assert tuple(statuses) == expected


def test_every_address_of_the_site_is_in_the_table() -> None:
    assert {name for name, _ in _named(get_resolver().url_patterns)} == set(EXPECTED)


def test_every_address_has_a_name() -> None:
    assert [pattern for name, pattern in _named(get_resolver().url_patterns) if not name] == []


def test_the_table_leads_to_the_addresses_it_names(site: Site) -> None:
    for name, (method_and_path, _) in EXPECTED.items():
        path = address_of(site, method_and_path).removeprefix("POST ").partition("?")[0]
        assert get_resolver().resolve(path).url_name == SAME.get(name, name)


@pytest.mark.slow
@pytest.mark.parametrize("visitor", VISITORS[:3])
def test_only_staff_has_access_to_the_administration(
    site: Site, as_user: Callable[..., Client], visitor: str
) -> None:
    for address in _admin_addresses():
        assert _client(site, as_user, visitor).get(address).status_code in {302, 404}, address


def test_staff_reaches_the_administration(site: Site, as_user: Callable[..., Client]) -> None:
    assert as_user(site.staff).get("/admin/").status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EXPECTED if not EXPECTED[name][0].startswith("POST")])
def test_no_page_shows_the_output_of_another_user_s_engine(
    site: Site, as_user: Callable[..., Client], name: str
) -> None:
    path = address_of(site, CASES[name][0])
    for visitor, secrets in (("anonymous", STDERR.values()), ("another", [STDERR["white"]])):
        response = _client(site, as_user, visitor).get(path)
        assert not any(secret.encode() in response.getvalue() for secret in secrets), visitor


@pytest.mark.parametrize("visitor", VISITORS)
def test_only_the_owner_and_staff_see_a_compliance_check(
    site: Site, as_user: Callable[..., Client], visitor: str
) -> None:
    finding = {
        "check": "quit",
        "ladder": "",
        "fault": "it stayed",
        "lines": "> quit",
        "stderr": "a secret word",
    }
    Exam.objects.create(version=site.white, sent_at=timezone.now(), heard_at=timezone.now(), found=[finding])
    for headers in ({}, {"HX-Request": "true"}):
        page = _client(site, as_user, visitor).get("/bots/stone-age/1/", headers=headers).content.decode()
        assert ("a secret word" in page) == (visitor in {"owner", "staff"})
        assert ("it stayed" in page) == (visitor in {"owner", "staff"})


@pytest.mark.parametrize("visitor", VISITORS)
def test_only_staff_sees_the_host_and_the_trouble_of_a_worker(
    site: Site, as_user: Callable[..., Client], visitor: str
) -> None:
    _worker()
    for headers in ({}, {"HX-Request": "true"}):
        page = _client(site, as_user, visitor).get("/workers/", headers=headers).content.decode()
        assert "players@east" in page
        shown = ["cellar-7" in page, "the disk is full" in page, "Quarantine<" in page]
        assert shown == [visitor == "staff"] * 3


@pytest.mark.parametrize(
    ("visitor", "seen"),
    [("anonymous", []), ("another", ["black"]), ("owner", ["white"]), ("staff", ["white", "black"])],
)
def test_a_game_shows_each_visitor_his_own_engine_s_log(
    site: Site, as_user: Callable[..., Client], visitor: str, seen: list[str]
) -> None:
    page = _client(site, as_user, visitor).get(f"/games/{site.played.pk}/").content.decode()
    shown = page.replace("&#x27;", "'")
    assert [side for side, stderr in STDERR.items() if stderr in shown] == seen


@pytest.mark.parametrize(
    "name", [name for name in CASES if CASES[name][0].startswith("POST") and not name.startswith("api-")]
)
def test_changes_require_a_post_with_a_token(site: Site, name: str) -> None:
    path = address_of(site, CASES[name][0]).removeprefix("POST ")
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(site.owner)
    assert strict.post(path).status_code == 403
    assert strict.get(path).status_code == 405


def _client(site: Site, as_user: Callable[..., Client], visitor: str) -> Client:
    users = {"anonymous": None, "another": site.rival, "owner": site.owner, "staff": site.staff}
    return as_user(users[visitor])


def _ask(client: Client, address: str) -> HttpResponse:
    ask = client.post if address.startswith("POST ") else client.get
    return ask(address.removeprefix("POST "))  # type: ignore[return-value]


def address_of(site: Site, template: str) -> str:
    tested = _version_test(site)
    return template.format(
        tested=tested.slug,
        staged=_staged(site).slug,
        discarded=_discarded(site).slug,
        tested_game=tested.games.earliest("id").pk,
        draft=site.draft.slug,
        running=site.running.slug,
        validation=site.validation.slug,
        drafted=site.draft.games.earliest("id").pk,
        validated=site.validation.games.earliest("id").pk,
        played=site.played.pk,
        played_key=site.played.key,
        validated_key=site.validation.games.earliest("id").key,
        live=site.live.pk,
        token=Token.objects.get_or_create(user=site.owner, digest="0" * 64, scopes=["read"])[0].pk,
        worker=_worker().pk,
        session=_session(site).pk,
        notice=Notice.objects.get_or_create(user=site.owner, version=site.white, text="Hear this")[0].pk,
    )


def _discarded(site: Site) -> Tournament:
    found = Tournament.objects.filter(is_discarded=True).first()
    if found is None:
        found = make_event(Tournament.Kind.ROUND_ROBIN, owner=site.owner, running=False, name="Never begun")
        cancel(found)
    return found


def _staged(site: Site) -> Tournament:
    found = Tournament.objects.filter(kind=Tournament.Kind.SWISS, state=Tournament.State.DRAFT).first()
    versions = [site.white, site.black]
    return found or make_event(
        Tournament.Kind.SWISS, owner=site.owner, running=False, name="Swiss draft", versions=versions
    )


def _version_test(site: Site) -> Tournament:
    found = Tournament.objects.filter(kind=Tournament.Kind.VERSION_TEST).first()
    return found or make_test(
        site.owner, candidate=add_version(site.owner, "Stone Age"), baseline=site.white, ladder=LADDER
    )


def _session(site: Site) -> UserSession:
    return UserSession.objects.get_or_create(
        session_key="a" * 32, defaults={"user": site.owner, "ip": "127.0.0.1"}
    )[0]


def _worker() -> Worker:
    fields = {"started_at": timezone.now(), "seen_at": timezone.now(), "queue": "games", "host": "cellar-7"}
    fields |= {"trouble": "the disk is full", "trouble_at": timezone.now(), "level": "A", "slots": 2}
    return Worker.objects.get_or_create(name="players@east", defaults=fields)[0]


def _named(patterns: list[URLPattern | URLResolver]) -> Iterator[tuple[str, str]]:
    """The site's addresses by name; the administration is checked separately."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            assert pattern.namespace == "admin"
        else:
            yield pattern.name or "", str(pattern.pattern)


def _admin_addresses() -> list[str]:
    """Every address of the administration without a row's number in it."""
    resolver = next(p for p in get_resolver().url_patterns if isinstance(p, URLResolver))
    return [f"/admin/{'/'.join(part)}" for part in _plain_paths(resolver)]


def _plain_paths(resolver: URLResolver) -> Iterator[list[str]]:
    for pattern in resolver.url_patterns:
        route = str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from ([route.rstrip("/"), *rest] for rest in _plain_paths(pattern))
        elif "<" not in route and "(" not in route and pattern.name not in {"login", "logout", "jsi18n"}:
            yield [route]
