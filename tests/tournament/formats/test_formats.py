"""Every format answers for itself: nobody else asks for the kind of a tournament."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engines.formats.rated import Unrated
from tournament.formats import FORMATS, PARAMETERS, TournamentFormat, kinds
from tournament.formats.base import GameEffect
from tournament.forms import TournamentForm as NewForm
from tournament.models import Bot, BotVersion, Game, Tournament, User
from tournament.services.results.effects import IN_ORDER
from workers.jobs import Work

ROOT = Path(__file__).resolve().parents[3]
CODES = "|".join(
    [rf"['\"]{code}['\"]" for code in FORMATS] + [f"{type(one).__name__}\\b" for one in FORMATS.values()]
)
ASKS = re.compile(
    rf"\bkind (==|!=|(not )?in) .*({CODES})|filter\(.*\bkind(__in)?=.*({CODES})"
    rf"|exclude\(.*\bkind(__in)?=.*({CODES})|format\.code\b|isinstance\(.*({CODES})"
)
"""A comparison with a kind, a filter by one, or a question for the class of a format."""


def test_every_format_is_found_and_those_that_users_choose_come_first() -> None:
    chosen = [code for code, one in FORMATS.items() if one.choice]
    assert list(FORMATS)[: len(chosen)] == chosen
    assert chosen[:4] == ["round-robin", "gauntlet", "swiss", "knock-out"]
    assert {"validation", "ladder", "version-test"} <= set(FORMATS)
    assert [Tournament(kind=kind).format for kind in FORMATS] == list(FORMATS.values())
    assert [Tournament(kind=kind).get_kind_display() for kind in FORMATS] == [
        one.label for one in FORMATS.values()
    ]


def test_nobody_outside_the_package_asks_for_the_kind_of_a_tournament() -> None:
    files = [*(ROOT / "tournament").rglob("*.py"), *(ROOT / "tournament/templates").rglob("*.html")]
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in files
        if not {"formats", "migrations"} & set(path.relative_to(ROOT).parts)
        for line in path.read_text().splitlines()
        if ASKS.search(line) and "models.CharField" not in line
    ]
    assert found == []


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_the_answers_of_a_format_fit_together(form: TournamentFormat) -> None:
    assert form.has_cycles + form.is_staged + form.is_endless + form.is_sequential <= 1
    assert form.choice == "" or form.is_listed
    if form.has_cycles:
        assert [sum(map(len, form.table(players))) for players in (2, 3, 7)] == [
            form.meetings(players) for players in (2, 3, 7)
        ]


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_its_own_numbers_are_columns_and_fields_of_the_form_below_its_choice(form: TournamentFormat) -> None:
    for own in form.parameters:
        assert isinstance(getattr(Tournament(), own.name), int)
    if form.choice:
        below = {
            choice.data["value"]: [field.name for field in fields]
            for choice, fields in NewForm(user=User(), organizer=None).formats
        }
        assert below[form.code] == form.own_fields


def test_no_two_formats_have_a_number_of_the_same_name() -> None:
    assert len(set(PARAMETERS)) == len(PARAMETERS)


def test_the_effects_of_a_game_follow_in_the_order_in_which_they_are_named() -> None:
    assert list(IN_ORDER) == list(GameEffect)


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize(
    ("rated", "owners", "is_rated"),
    [(True, (1, 2), True), (False, (1, 2), False), (True, (1, 1), False), (True, (None, None), True)],
)
def test_a_game_has_all_effects_but_those_that_its_tournament_excludes(
    form: TournamentFormat, rated: bool, owners: tuple[int | None, int | None], is_rated: bool
) -> None:
    white, black = (BotVersion(bot=Bot(pk=pk, owner_id=owner)) for pk, owner in enumerate(owners, 1))
    game = Game(tournament=Tournament(kind=form.code, rated=rated), white=white, black=black)
    missing = {GameEffect.FORFEITS} if form.work is Work.CHECKS else set()
    assert form.effects(game) == set(GameEffect) - missing - (set() if is_rated else {GameEffect.RATINGS})


def test_kinds_are_selected_by_a_condition() -> None:
    assert {"swiss", "knock-out"} <= set(kinds(lambda one: one.is_staged)) < set(FORMATS)


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_one_player_meets_nobody(form: TournamentFormat) -> None:
    assert form.meetings(1, rounds=3) == form.meetings(0, rounds=3) == 0


@pytest.mark.parametrize(
    ("kind", "owners", "said"),
    [
        ("round-robin", [1, 2, 3], "yes"),
        ("round-robin", [None, None], "yes"),
        ("round-robin", [1, 1], "no: in every game both bots have one owner"),
        ("swiss", [1, 2, 1], "yes, but not where both bots have one owner"),
        ("gauntlet", [1, 2, 2], "yes"),
        ("gauntlet", [1, 1, 2], "yes, but not where both bots have one owner"),
        ("gauntlet", [1, 1, 1], "no: in every game both bots have one owner"),
    ],
)
def test_a_format_says_which_games_between_bots_of_these_owners_are_rated(
    kind: str, owners: list[int | None], said: str
) -> None:
    bots = [Bot(pk=number, owner_id=owner) for number, owner in enumerate(owners, start=1)]
    event = Tournament(ladders=["dualma"])
    assert FORMATS[kind].describe_rated(bots, event) == said
    assert FORMATS[kind].describe_rated(bots, Tournament(rated=False)) == "no"
    white, black = (BotVersion(bot=bot) for bot in bots[:2])
    why = FORMATS[kind].why_unrated(Game(tournament=event, white=white, black=black))
    assert why == (None if owners[0] is None or owners[0] != owners[1] else Unrated.OWNER)


TIME = "the time control is not on the ladder's terms"
OPENINGS = "the openings are not on the ladder's terms"


@pytest.mark.parametrize(
    ("owners", "off_terms", "by_staff", "said"),
    [
        ([1, 2], {"dualma": "time-control"}, False, f"yes, but not where {TIME} (DuAlma)"),
        (
            [1, 2],
            {"dualma": "openings", "dogon-gagara": "openings"},
            False,
            f"no: {OPENINGS} (DuAlma, Dogon gagara)",
        ),
        ([1, 1], {"dualma": "openings"}, True, "no: in every game both bots have one owner"),
        ([1, 2], {"dualma": "openings"}, True, f"yes; staff rates it although {OPENINGS} (DuAlma)"),
        ([1, 2], {}, True, "yes"),
        (
            [1, 1, 2],
            {"dualma": "openings"},
            False,
            f"yes, but not where both bots have one owner or {OPENINGS} (DuAlma)",
        ),
        (
            [],
            {"dualma": "openings", "dogon-gagara": "time-control"},
            False,
            f"no: {TIME} (Dogon gagara) and {OPENINGS} (DuAlma)",
        ),
    ],
)
def test_a_tournament_says_on_which_ladders_it_is_not_rated(
    owners: list[int], off_terms: dict[str, str], by_staff: bool, said: str
) -> None:
    bots = [Bot(pk=number, owner_id=owner) for number, owner in enumerate(owners, start=1)]
    event = Tournament(ladders=["dualma", "dogon-gagara"], off_terms=off_terms, rated_off_terms=by_staff)
    assert FORMATS["swiss"].describe_rated(bots, event) == said


def test_two_versions_of_one_bot_of_the_site_are_not_rated() -> None:
    bot = Bot(pk=1)
    said = FORMATS["round-robin"].describe_rated([bot, bot], Tournament())
    assert said == "no: in every game both players are versions of one bot"
