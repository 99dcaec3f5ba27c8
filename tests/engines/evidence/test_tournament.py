"""Evidence of tournaments of each format: what agrees, and every attack is found and named."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from engines.evidence import round_checks
from engines.evidence.format import EventState
from tests.support.evidence import (
    AT,
    LADDER,
    PLANS,
    Checked,
    Differences,
    annul,
    lines_of,
    publish_tables,
    tournament_draft,
)

STANDINGS, SCHEDULE = "tables/standings.jsonl", "schedule.jsonl"


@pytest.mark.parametrize("kind", PLANS)
@pytest.mark.parametrize("withdrawn", ["", "Greedy/1"])
def test_a_tournament_that_agrees_is_checked_in_full(kind: str, withdrawn: str, checked: Checked) -> None:
    code, out = checked(tournament_draft(kind, withdrawn=withdrawn))
    assert (code, lines_of(out, "DIFFERS"), lines_of(out, "not checked")) == (0, [], [])
    assert [line.partition(":")[0] for line in lines_of(out, "ok")] == [
        "archive", "revision", "signature", "constants", "games", "records", "headers", "corrections",
        "repeats", "rated", "versions", "workers", "attempts", "schedule", "tables", "ratings",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", PLANS)
@pytest.mark.parametrize(
    ("name", "values"),
    [
        (STANDINGS, {"points": 99.5}),
        (STANDINGS, {"rank": 7}),
        (STANDINGS, {"sonneborn_berger": 0.25}),
        (STANDINGS, {"rating": 1.0}),
        ("tables/crosstable.jsonl", {"won": 77}),
        ("tables/ratings.jsonl", {"sigma": 8.0}),
    ],
)
def test_one_changed_number_of_a_table_is_named(
    kind: str, name: str, values: dict[str, float], differences: Differences
) -> None:
    draft = tournament_draft(kind)
    draft.change(name, 2, **values)
    (field, value), (found,) = *values.items(), differences(draft)
    assert f": {name}:3: " in found
    assert f": {field} is {value!r}, computed " in found


@pytest.mark.parametrize("kind", ["swiss", "knock-out"])
def test_a_changed_pairing_of_a_table_is_named(kind: str, differences: Differences) -> None:
    draft = tournament_draft(kind)
    draft.change("tables/pairings.jsonl", 0, note="withdrawn")
    (found,) = differences(draft)
    assert found.startswith("tables: tables/pairings.jsonl:1: ")


@pytest.mark.parametrize("kind", PLANS)
@pytest.mark.parametrize("values", [{"opening": "a1"}, {"seed": 1}])
def test_another_opening_or_seed_of_a_pair_is_named(
    kind: str, values: dict[str, object], differences: Differences
) -> None:
    draft = tournament_draft(kind)
    for number in (0, 1):
        draft.change(SCHEDULE, number, **values)
    assert any("; planned is " in line for line in differences(draft))


@pytest.mark.parametrize("kind", PLANS)
def test_another_opponent_is_named(kind: str, differences: Differences) -> None:
    draft = tournament_draft(kind)
    first = draft.rows[SCHEDULE][0]
    other = next(
        one.version for one in draft.rows["entries.jsonl"] if one.version not in (first.white, first.black)
    )
    draft.change(SCHEDULE, 0, black=other)
    draft.change(SCHEDULE, 1, white=other)
    assert any(line.startswith(f"schedule: {LADDER} 1/1 ") for line in differences(draft))


@pytest.mark.parametrize("kind", PLANS)
def test_a_pair_that_is_missing_is_named(kind: str, differences: Differences) -> None:
    draft = tournament_draft(kind)
    del draft.rows[SCHEDULE][-2:], draft.records[-2:]
    assert any(line.startswith("schedule: the schedule ends; planned is") for line in differences(draft))


def test_the_schedule_of_a_cancelled_tournament_may_end_early(checked: Checked) -> None:
    draft = tournament_draft("round-robin", state=EventState.CANCELLED)
    del draft.rows[SCHEDULE][-2:], draft.records[-2:]
    draft.change("workers.jsonl", 0, games=len(draft.records))
    publish_tables(draft)
    assert checked(draft)[0] == 0


def test_a_pair_is_two_games_with_both_colours(differences: Differences) -> None:
    draft = tournament_draft("round-robin")
    row = draft.rows[SCHEDULE][1]
    draft.change(SCHEDULE, 1, white=row.black, black=row.white)
    assert any("; the other game of its pair is " in line for line in differences(draft))


def test_a_swiss_without_networkx_is_not_checked(checked: Checked, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = tournament_draft("swiss")
    monkeypatch.setitem(sys.modules, "networkx", None)
    code, out = checked(draft)
    assert code == 3
    assert lines_of(out, "not checked") == [
        "schedule: Swiss pairing needs the package networkx, which this Python does not have"
    ]


def test_a_sha256_of_a_bundle_that_is_none_is_named(differences: Differences) -> None:
    draft = tournament_draft("gauntlet")
    name = draft.rows["versions.jsonl"][0].version
    draft.change("versions.jsonl", 0, bundle_sha256="abc")
    assert differences(draft) == [f"versions: versions.jsonl: {name!r} has the SHA-256 'abc', which is none"]


# Annulments


@pytest.mark.parametrize("kind", PLANS)
def test_a_game_that_is_annulled_after_the_end_changes_the_tables_alone(kind: str, checked: Checked) -> None:
    draft = tournament_draft(kind)
    annul(draft, 1, AT)
    code, out = checked(draft)
    assert code == 1
    assert {line.partition(":")[0] for line in lines_of(out, "DIFFERS")} == {"tables", "ratings"}
    publish_tables(draft)
    assert checked(draft)[0] == 0


DECISIVE = {"swiss": 1, "knock-out": 5}
"""A game without which another round is drawn."""


def drawn(rounds: str) -> list[str]:
    """Moments of 28 November, at which rounds of an hour begin."""
    return [f"2026-11-28T{moment}:00+00:00" for moment in rounds.split()]


@pytest.mark.parametrize("kind", ["swiss", "knock-out"])
@pytest.mark.parametrize("at", drawn("01:10 01:40 01:59"))
def test_a_game_annulled_before_a_round_is_drawn_does_not_count_there(
    kind: str, at: str, checked: Checked
) -> None:
    draft = tournament_draft(kind, annulled=[DECISIVE[kind]])
    draft.rows["corrections.jsonl"] = [replace(draft.rows["corrections.jsonl"][0], at=at)]
    code, out = checked(draft)
    assert code == 0, out


@pytest.mark.parametrize("kind", ["swiss", "knock-out"])
@pytest.mark.parametrize(
    ("before", "at"),
    [*((True, at) for at in drawn("04:00 23:00")), *((False, at) for at in drawn("00:10 01:20"))],
)
def test_a_round_that_was_drawn_otherwise_than_the_annulment_says_differs(
    kind: str, before: bool, at: str, differences: Differences
) -> None:
    draft = tournament_draft(kind, annulled=[DECISIVE[kind]] if before else [])
    if not before:
        annul(draft, DECISIVE[kind], at)
        publish_tables(draft)
    draft.rows["corrections.jsonl"] = [replace(draft.rows["corrections.jsonl"][0], at=at)]
    assert any(line.startswith("schedule: ") and "planned is" in line for line in differences(draft))


def test_too_many_undecided_annulments_are_not_checked(
    checked: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(round_checks, "MAX_UNDECIDED", 0)
    draft = tournament_draft("swiss", annulled=[1])
    draft.rows["corrections.jsonl"] = [replace(draft.rows["corrections.jsonl"][0], at=drawn("01:40")[0])]
    _, out = checked(draft)
    said = "schedule: which of 1 annulled games counted when a round was drawn is not known: "
    assert lines_of(out, "not checked")[0].startswith(said)


# Terms


def test_a_game_that_is_rated_against_the_terms_is_named(differences: Differences) -> None:
    draft = tournament_draft("round-robin")
    draft.document = replace(
        draft.document, events=(replace(draft.document.events[0], off_terms={LADDER: "openings"}),)
    )
    assert differences(draft)[0] == "rated: game 'spring/1/1/1' is rated, by the terms openings"


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"format": "arena"}, "this program does not know the format 'arena'"),
        ({"seeds": {LADDER: ("Zoo/2",)}}, "event.json: the seeds of 'duovallis' are not those who play it"),
        ({"absent": {LADDER: {"x": ()}}}, "event.json: absent has the round 'x'"),
        ({"absent": {LADDER: {"1": ("Nobody/1",)}}}, "event.json names 'Nobody/1', which is not entered"),
        ({"pairs": 2**40}, "event.json: the tournament is larger than any that a site plays"),
        ({"opening_plies": 2**40}, "event.json: the tournament is larger than any that a site plays"),
        ({"opening_plies": 900}, "event.json: opening plies: no random game of Duovallis lasted 900 plies"),
        ({"name": "other"}, "event.json has the events ['other'], not 'spring' alone"),
    ],
)
def test_terms_that_cannot_be_are_refused(terms: dict[str, object], said: str, checked: Checked) -> None:
    draft = tournament_draft("round-robin")
    changed = replace(draft.document.events[0], **terms)  # type: ignore[arg-type]
    draft.document = replace(draft.document, events=(changed,))
    code, out = checked(draft)
    assert (code, out.splitlines()[-1]) == (2, said)


def test_a_player_who_is_not_entered_is_refused(checked: Checked) -> None:
    draft = tournament_draft("round-robin")
    draft.rows["entries.jsonl"].pop()
    code, out = checked(draft)
    assert (code, out.splitlines()[-1]) == (2, "schedule.jsonl: game 'spring/1/1/1': 'Zoo/2' is not entered")
