"""Every format answers for itself: nobody else asks for the kind of a tournament."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tournament.formats import FORMATS, TournamentFormat, kinds
from tournament.models import Tournament

ROOT = Path(__file__).resolve().parents[3]
CODES = "|".join(code for code in FORMATS if code not in {"validation", "ladder"})
ASKS = re.compile(rf"\bkind (==|!=|in) .*['\"]({CODES})['\"]")
"""A comparison with a kind, or a filter by one."""


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
    assert not (form.ends_with_its_games and (form.is_staged or form.is_endless))
    if form.has_cycles:
        assert [sum(map(len, form.table(players))) for players in (2, 3, 7)] == [
            form.meetings(players) for players in (2, 3, 7)
        ]


def test_kinds_are_selected_by_a_condition() -> None:
    assert kinds(lambda one: one.is_staged) == ["swiss", "knock-out"]


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_one_player_meets_nobody(form: TournamentFormat) -> None:
    assert form.meetings(1, rounds=3) == form.meetings(0, rounds=3) == 0
