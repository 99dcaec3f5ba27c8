"""Evidence of a ladder: what agrees, and every attack is found and named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engines.__main__ import main
from engines.evidence.format import CorrectionEffect, EvidenceCorrection
from tests.support.evidence import AT, BUNDLE, Checked, Differences, EvidenceDraft, ladder_draft, lines_of

RATINGS, SCHEDULE = "tables/ratings.jsonl", "schedule.jsonl"


@pytest.fixture
def draft() -> EvidenceDraft:
    return ladder_draft()


def test_a_ladder_that_agrees_says_what_was_checked(draft: EvidenceDraft, checked: Checked) -> None:
    code, out = checked(draft)
    assert (code, lines_of(out, "DIFFERS"), lines_of(out, "not checked")) == (0, [], [])
    assert [line.partition(":")[0] for line in lines_of(out, "ok")] == [
        "archive", "revision", "signature", "constants", "games", "records", "headers", "corrections",
        "repeats", "rated", "versions", "workers", "attempts", "schedule", "estimate", "ratings",
    ]  # fmt: skip
    assert "records: 24 games with 213 moves are replayed" in out
    assert out.endswith("everything that was checked agrees\n")


def test_a_folder_is_checked_as_its_zip_is(
    draft: EvidenceDraft, tmp_path: Path, signers: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in draft.packed().items():
        (tmp_path / "here" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "here" / name).write_bytes(content)
    assert main(["evidence", str(tmp_path / "here"), *signers]) == 0
    (tmp_path / "here" / "more").write_bytes(b"")
    assert main(["evidence", str(tmp_path / "here")]) == 1
    assert "archive: 'more' is not in the manifest" in capsys.readouterr().out


# Files that are not those of the manifest


def test_a_changed_digit_of_a_file_is_named_by_its_sha256(
    draft: EvidenceDraft, differences: Differences
) -> None:
    def change(files: dict[str, bytes]) -> None:
        files[RATINGS] = files[RATINGS].replace(b'"mu":2', b'"mu":3', 1)

    assert any(
        line.startswith(f"archive: {RATINGS} has the SHA-256") for line in differences(draft, change=change)
    )


def test_a_missing_file_and_one_too_many_are_named(draft: EvidenceDraft, differences: Differences) -> None:
    def change(files: dict[str, bytes]) -> None:
        files["secret.txt"] = b""
        del files[next(name for name in files if name.startswith("bundles/"))]

    found = differences(draft, change=change)
    assert found[0] == "archive: 'secret.txt' is not in the manifest"
    assert found[1].endswith(".zip is missing")


def test_a_swapped_bundle_is_named(draft: EvidenceDraft, differences: Differences) -> None:
    name = next(name for name in draft.files() if name.startswith("bundles/"))
    found = differences(draft, change=lambda files: files.update({name: BUNDLE[::-1]}))
    assert found[0].startswith(f"archive: {name} has the SHA-256 ")


def test_a_bundle_that_is_swapped_in_the_manifest_too_is_named(
    draft: EvidenceDraft, differences: Differences
) -> None:
    draft.bundles = [b"another bundle"]
    found = differences(draft)
    assert "'Stone Age/1' is published, but bundles/" in found[0]
    assert found[1].endswith(".zip is the bundle of no published version")


# Files that an attacker has listed in a manifest of his own


def test_a_changed_digit_in_a_table_is_named_with_both_values(
    draft: EvidenceDraft, differences: Differences
) -> None:
    row = draft.rows[RATINGS][2]
    draft.change(RATINGS, 2, mu=float(f"{row.mu:.13g}"))
    (found,) = differences(draft)
    assert (
        found
        == f"ratings: {RATINGS}:3: 'duovallis' {row.version!r}: mu is {row.mu:.13g}, computed {row.mu!r}"
    )


def test_a_row_too_many_and_one_that_is_missing_are_named(
    draft: EvidenceDraft, differences: Differences
) -> None:
    row = draft.rows[RATINGS].pop()
    assert differences(draft) == [f"ratings: {RATINGS} has no row of 'duovallis' {row.version!r}"]
    draft.rows[RATINGS] += [row, replace(row, version="Zoo/1")]
    assert differences(draft) == [
        f"ratings: {RATINGS}:6: there is nothing to compute for 'duovallis' 'Zoo/1'"
    ]


def test_a_changed_move_is_named_with_its_line(draft: EvidenceDraft, differences: Differences) -> None:
    draft.records[4] = draft.records[4].replace("2. ", "2. c9 ", 1)
    found = differences(draft)
    assert found[0].startswith("records: records.pgn:")
    assert "'ladder-duovallis/3/1/1': " in found[0]


def test_a_changed_result_changes_the_ratings(draft: EvidenceDraft, differences: Differences) -> None:
    number = next(at for at, record in enumerate(draft.records) if record.endswith("1/2-1/2\n"))
    draft.records[number] = draft.records[number].replace("1/2-1/2", "1-0")
    assert any(line.startswith(f"ratings: {RATINGS}:") for line in differences(draft))


def test_a_missing_record_is_named(draft: EvidenceDraft, differences: Differences) -> None:
    del draft.records[3]
    found = differences(draft)
    assert found[0] == "records: records.pgn has no record of game 'ladder-duovallis/2/1/2'"
    assert not [line for line in found if line.startswith("headers: ")]


def test_a_record_twice_is_named(draft: EvidenceDraft, differences: Differences) -> None:
    draft.records.insert(6, draft.records[1])
    (found,) = differences(draft)
    assert found.endswith("game 7: GameId 'ladder-duovallis/1/1/2' stands twice, or out of order")


def test_a_record_of_no_game_is_named(draft: EvidenceDraft, differences: Differences) -> None:
    draft.records.append(draft.records[1].replace("/1/1/2", "/1/1/3"))
    (found,) = differences(draft)
    assert found.endswith(
        "game 25: GameId 'ladder-duovallis/1/1/3' is that of no finished game of the schedule"
    )


def test_a_record_that_cannot_be_read_is_named(draft: EvidenceDraft, differences: Differences) -> None:
    draft.records[0] = draft.records[0].replace("]", "", 1)
    found = differences(draft)
    assert found[0].startswith("records: records.pgn:1: game 1: cannot read the header")
    assert found[1] == "records: records.pgn has no record of game 'ladder-duovallis/1/1/1'"


def test_another_player_than_that_of_the_schedule_is_named(
    draft: EvidenceDraft, differences: Differences
) -> None:
    draft.records[0] = draft.records[0].replace('[WhiteVersion "1"]', '[WhiteVersion "2"]')
    assert differences(draft)[0].endswith("WhiteVersion is '2', the schedule has '1'")


def test_another_seed_is_named(draft: EvidenceDraft, differences: Differences) -> None:
    draft.change(SCHEDULE, 0, seed=3)
    assert any("Seed is '" in line for line in differences(draft))


def test_a_game_that_stands_twice_in_the_schedule_is_named(
    draft: EvidenceDraft, differences: Differences
) -> None:
    draft.rows[SCHEDULE].insert(3, draft.rows[SCHEDULE][2])
    assert "repeats: game 'ladder-duovallis/2/1/1' stands twice in the schedule" in differences(draft)


def test_games_in_another_order_are_named(draft: EvidenceDraft, differences: Differences) -> None:
    rows = draft.rows[SCHEDULE]
    rows[2:4], draft.records[2:4] = rows[3:1:-1], draft.records[3:1:-1]
    assert "ratings: game 'ladder-duovallis/2/1/1' has the sequence 3 after 4" in differences(draft)


def test_a_wrong_estimate_is_named(draft: EvidenceDraft, differences: Differences) -> None:
    row = draft.rows["tables/estimate.jsonl"][2]
    draft.change("tables/estimate.jsonl", 2, elo=row.elo + 0.001)
    (found,) = differences(draft)
    assert found.startswith(f"estimate: tables/estimate.jsonl:3: 'duovallis' {row.version!r}: elo is ")


# Corrections


def annul(draft: EvidenceDraft, number: int, effect: CorrectionEffect = CorrectionEffect.ANNULLED) -> str:
    game: str = draft.rows[SCHEDULE][number].game
    draft.rows["corrections.jsonl"].append(EvidenceCorrection(game, effect, "a faulty worker", AT))
    return game


def test_an_annulled_game_must_be_marked_in_the_schedule(
    draft: EvidenceDraft, differences: Differences
) -> None:
    game = annul(draft, 5)
    assert differences(draft)[:2] == [
        f"corrections: game {game!r}: rated is yes in the schedule, no by its record and the corrections",
        f"corrections: game {game!r}: annulled is no in the schedule, yes by its record and the corrections",
    ]


def test_a_game_that_does_not_count_needs_a_reason(draft: EvidenceDraft, differences: Differences) -> None:
    draft.change(SCHEDULE, 5, rated=False)
    assert any("rated is no in the schedule, yes by its record" in line for line in differences(draft))


def test_a_correction_of_no_game_is_named(draft: EvidenceDraft, differences: Differences) -> None:
    game = annul(draft, 5)
    draft.rows["corrections.jsonl"] *= 2
    draft.rows["corrections.jsonl"].append(EvidenceCorrection("x", CorrectionEffect.RATED, "", AT))
    found = differences(draft)
    assert f"corrections: game {game!r} is corrected twice" in found
    assert "corrections: game 'x' is corrected, but is not in the schedule" in found


def test_two_rated_games_may_not_repeat_each_other(draft: EvidenceDraft, differences: Differences) -> None:
    repeated = draft.records[0].replace("/1/1/1", "/9/1/1")
    draft.records.append(repeated)
    draft.rows[SCHEDULE].append(
        replace(draft.rows[SCHEDULE][0], game="ladder-duovallis/9/1/1", round=9, sequence=99)
    )
    found = differences(draft)
    assert "repeats: game 'ladder-duovallis/9/1/1' repeats another rated game, and is rated too" in found


# Lists


def test_a_player_without_a_version_is_named(draft: EvidenceDraft, differences: Differences) -> None:
    version = draft.rows["versions.jsonl"].pop(0).version
    assert f"versions: versions.jsonl has no {version!r}, which takes part" in differences(draft)


def test_the_games_of_workers_are_counted(draft: EvidenceDraft, differences: Differences) -> None:
    draft.change("workers.jsonl", 0, games=23)
    assert differences(draft) == ["workers: workers.jsonl: 'crow' has 23 games, the schedule 24"]


def test_another_version_of_the_rules_is_not_checked(draft: EvidenceDraft, checked: Checked) -> None:
    (ladder,) = draft.document.ladders
    draft.document = replace(draft.document, ladders=(replace(ladder, rules_version=9),))
    draft.records = [
        record.replace('"]\n[Termination', '"]\n[RulesVersion "9"]\n[Termination') for record in draft.records
    ]
    code, out = checked(draft)
    assert code == 3
    assert "not checked  records: 24 games are not replayed: the game was played by version '9'" in out
    assert "not checked  schedule: 12 pairings, openings and seeds need the rules of all ladders" in out
