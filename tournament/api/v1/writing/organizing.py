"""Tournaments, short matches and version tests: create, start, stop, enter and withdraw."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated

import msgspec
from django.db import transaction
from django.http import HttpResponse
from msgspec import UNSET, Meta, UnsetType

from engines.rules.registry import GAMES
from tournament import access
from tournament.api.envelope import ApiError
from tournament.api.v1.operations import ApiRequest, operation
from tournament.api.v1.responses import object_answer
from tournament.api.v1.schemas import SLUG, like
from tournament.api.v1.writing.given import check_form, find_version, form_data, given
from tournament.api.v1.writing.once import check_bot, check_shown, once, refused, user_of
from tournament.forms import TournamentForm
from tournament.models import Bot, BotVersion, Token, Tournament, User
from tournament.services.schedule import tournaments
from tournament.services.schedule.organizing import CONTROLS, challenge, enter_bot, run_control, withdraw_bot
from tournament.services.version_tests.progress import stop_for
from tournament.services.version_tests.starting import start_test
from tournament.views.bots.bots import find_bot
from tournament.views.tournaments.tournaments import find_tournament
from tournament.views.version_tests.starting import OWN, VersionTestForm
from tournament.views.version_tests.version_tests import find_version_test

TESTS, EVENTS = (Token.Scope.TESTS,), (Token.Scope.EVENTS,)
TEST, EVENT = VersionTestForm.base_fields, TournamentForm.base_fields
Named = Annotated[
    str,
    Meta(
        pattern=f"^{SLUG}(/[0-9]+)?$",
        description="`slug/number`, or `slug` for the bot's newest active version.",
    ),
]


MAX_NAMED = 5000
"""Bots that a request may name."""
Ladders = Annotated[list[Annotated[str, like(TEST["ladder"])]], Meta(max_length=len(GAMES))]


class EventAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A tournament or a version test."""

    slug: str
    name: str
    kind: str
    state: str
    page: str
    url: str
    """Where programs read it."""
    dry_run: bool = False


class NewVersionTest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A version test; what is left out is as the page suggests it."""

    candidate: Named
    baseline: Named
    ladder: Annotated[str, like(TEST["ladder"])]
    bounds: (
        Annotated[str, like(TEST["bounds"], "Left out: `gain`; `own` is for elo0 and elo1.")] | UnsetType
    ) = UNSET
    elo0: Annotated[float, like(TEST["elo0"])] | UnsetType = UNSET
    elo1: Annotated[float, like(TEST["elo1"])] | UnsetType = UNSET
    most_games: Annotated[int, like(TEST["most_games"])] | UnsetType = UNSET
    time_control: Annotated[str, like(TEST["time_control"])] | UnsetType = UNSET
    opening_plies: Annotated[int, like(TEST["opening_plies"])] | UnsetType = UNSET
    own_workers: bool = False


class NewTournament(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tournament; what is left out is as the page suggests it."""

    name: Annotated[str, like(EVENT["name"])]
    kind: Annotated[str, like(EVENT["kind"])] | UnsetType = UNSET
    bots: Annotated[list[Named], Meta(max_length=MAX_NAMED)] = []
    challenger: Named | UnsetType = UNSET
    ladders: Ladders | UnsetType = UNSET
    pairs: Annotated[int, like(EVENT["pairs"])] | UnsetType = UNSET
    rounds: int | UnsetType = UNSET
    extra_pairs: int | UnsetType = UNSET
    time_control: Annotated[str, like(EVENT["time_control"])] | UnsetType = UNSET
    opening_plies: Annotated[int, like(EVENT["opening_plies"])] | UnsetType = UNSET
    book: Annotated[str, like(EVENT["book"])] | UnsetType = UNSET
    seed: Annotated[int, like(EVENT["seed"])] | UnsetType = UNSET
    rated: bool | UnsetType = UNSET
    rated_off_terms: bool = False
    own_workers: bool = False
    starts_at: datetime.datetime | None = None
    entry_until: datetime.datetime | None = None
    dry_run: Annotated[bool, Meta(description="Check everything, and store nothing.")] = False


class OwnBot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of your bots."""

    bot: Annotated[str, Meta(pattern=f"^{SLUG}$", description="Its slug.")]


@operation("POST", "version-tests/", answer=EventAnswer, status=201, body=NewVersionTest, scopes=TESTS)
@once
def start_version_test(request: ApiRequest, body: NewVersionTest) -> EventAnswer:
    """Start a test of a version of yours against another; a token for one bot needs a candidate of it."""
    user, values = user_of(request), given(body)
    if "bounds" not in values:
        values["bounds"] = OWN if {"elo0", "elo1"} & values.keys() else "gain"
    for field in ("candidate", "baseline"):
        version = _testable(user, field, values[field])
        if field == "candidate":
            check_bot(request, version.bot)
        values[field] = version.pk
    form = VersionTestForm(form_data(VersionTestForm(user=user), values), user=user)
    check_form(form)
    return _event(request, start_test(user, form.terms))


@operation("POST", "version-tests/<slug:slug>/stop/", answer=EventAnswer, scopes=TESTS)
def stop_version_test(request: ApiRequest, slug: str) -> EventAnswer:
    """Stop a running version test without a verdict; its recorded games are kept."""
    tournament = find_version_test(request, slug)
    user = user_of(request)
    if not access.may_edit_tournament(user, tournament):
        raise ApiError(404, "There is no such version test of yours.")
    candidate = tournament.entries.select_related("version__bot").order_by("number")[0]
    check_bot(request, candidate.version.bot)
    with refused():
        stop_for(user, tournament)
    return _event(request, tournament)


@operation(
    "POST", "tournaments/", answer=EventAnswer, status=201, also=200, body=NewTournament, scopes=EVENTS
)
def create_tournament(request: ApiRequest, body: NewTournament) -> HttpResponse:
    """Create a tournament as a draft, which you then start or announce.

    With `dry_run` all checks are made and nothing is stored; the status is then 200.
    """
    if not body.dry_run:
        return _create(request, body=body)
    with refused(), transaction.atomic():
        tried = _create_draft(request, body)
        transaction.set_rollback(True)
    return object_answer(msgspec.structs.replace(tried, slug="", page="", url="", dry_run=True))


@once
def _create(request: ApiRequest, body: NewTournament) -> EventAnswer:
    return _create_draft(request, body)


def _create_draft(request: ApiRequest, body: NewTournament) -> EventAnswer:
    user, values = user_of(request), given(body)
    check_bot(request, None)
    values["bots"] = _active("bots", values["bots"])
    if "challenger" in values:
        values["challenger"] = _active("challenger", [values["challenger"]])
    page = TournamentForm(user=user, organizer=user)
    if values["rated_off_terms"] and "rated_off_terms" not in page.fields:
        raise ApiError(403, "rated_off_terms: only staff can choose it.")
    form = TournamentForm(form_data(page, values), user=user, organizer=user)
    check_form(form)
    return _event(request, tournaments.create(user, form.terms))


def _register_control(name: str) -> None:
    """Register the operation of an organizer's button."""

    def control(request: ApiRequest, slug: str) -> EventAnswer:
        check_bot(request, None)
        tournament = find_tournament(request, slug)
        user = user_of(request)
        if not access.may_edit_tournament(user, tournament):
            raise ApiError(404, "There is no such tournament of yours.")
        with refused():
            run_control(user, tournament, CONTROLS[name])
        tournament.refresh_from_db()
        return _event(request, tournament)

    control.__name__ = f"{name}_tournament"
    control.__doc__ = f"{name.capitalize()} one of your tournaments, as the button on its page does."
    view = once(control, status=200) if name == "start" else control  # it makes the games
    operation("POST", f"tournaments/<slug:slug>/{name}/", answer=EventAnswer, scopes=EVENTS)(view)


for _name in CONTROLS:
    _register_control(_name)


@operation("POST", "tournaments/<slug:slug>/enter/", answer=EventAnswer, body=OwnBot, scopes=EVENTS)
@partial(once, status=200)
def enter_tournament(request: ApiRequest, slug: str, body: OwnBot) -> EventAnswer:
    """Enter one of your bots in a tournament that takes entries."""
    user = user_of(request)
    return _entered(request, slug, _enterable(request, body.bot), lambda t, bot: enter_bot(user, t, bot))


@operation("POST", "tournaments/<slug:slug>/leave/", answer=EventAnswer, body=OwnBot, scopes=EVENTS)
def leave_tournament(request: ApiRequest, slug: str, body: OwnBot) -> EventAnswer:
    """Withdraw one of your bots from a tournament that still takes entries; may be repeated."""
    user, bot = user_of(request), find_bot(request, body.bot)
    if not access.may_edit_bot(user, bot):
        raise ApiError(422, f"bot: {bot.slug!r} is not one of your bots.")
    return _entered(request, slug, bot, lambda t, own: withdraw_bot(user, t, own))


@operation("POST", "bots/<slug:slug>/match/", answer=EventAnswer, status=201, body=OwnBot, scopes=EVENTS)
@once
def start_match(request: ApiRequest, slug: str, body: OwnBot) -> EventAnswer:
    """Start a short unrated match of one of your bots against this one."""
    own, opponent = _enterable(request, body.bot), find_bot(request, slug)
    check_bot(request, own)
    return _event(request, challenge(user_of(request), own, opponent))


def _entered(
    request: ApiRequest, slug: str, bot: Bot, act: Callable[[Tournament, Bot], object]
) -> EventAnswer:
    check_bot(request, bot)
    tournament = find_tournament(request, slug)
    check_shown(request, tournament)
    with refused():
        act(tournament, bot)
    return _event(request, tournament)


def _enterable(request: ApiRequest, slug: str) -> Bot:
    bot = access.enterable_bots(user_of(request)).filter(slug=slug).first()
    if bot is None:
        raise ApiError(422, "bot: name one of your bots that has a valid version.")
    return bot


def _testable(user: User, field: str, name: str) -> BotVersion:
    version = find_version(user, field, name)
    if not access.testable_versions(user).filter(pk=version.pk).exists():
        raise ApiError(422, f"{field}: {str(version)!r} is not a valid version of your bots.")
    return version


def _active(field: str, names: Sequence[str]) -> list[int]:
    """The ids of active versions: the form would take another one in place of an earlier one."""
    entering = BotVersion.objects.entering().filter(bot__slug__in={name.partition("/")[0] for name in names})
    found: dict[str, int] = {}
    for slug, number, pk in entering.order_by("number").values_list("bot__slug", "number", "pk"):
        found[slug] = found[f"{slug}/{number}"] = pk  # at last the newest
    if missing := [name for name in names if name not in found]:
        raise ApiError(422, f"{field}: there is no active version {missing[0]!r}.")
    return [found[name] for name in names]


def _event(request: ApiRequest, tournament: Tournament) -> EventAnswer:
    kind = "version-tests" if tournament.format.is_sequential else "tournaments"
    return EventAnswer(
        slug=tournament.slug,
        name=tournament.name,
        kind=tournament.kind,
        state=tournament.state,
        page=request.build_absolute_uri(tournament.get_absolute_url()),
        url=request.build_absolute_uri(f"/api/v1/{kind}/{tournament.slug}/"),
    )
