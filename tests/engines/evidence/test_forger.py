"""A site that forges its own evidence, and signs it: what the command prints, and its exit code.

The manifest is always made anew. What is not found (exit code 0) is listed in docs/evidence.md.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engines.__main__ import main
from engines.evidence.format import (
    MANIFEST,
    RECORDS,
    CorrectionEffect,
    EventState,
    EvidenceCorrection,
    EvidenceKind,
    EvidenceState,
)
from engines.records import Record, RecordMove, format_record, read_records, start_history
from engines.rules.base import Result
from tests.support.evidence import (
    AT,
    LADDER,
    PLANS,
    Checked,
    EvidenceDraft,
    ladder_draft,
    lines_of,
    publish_tables,
    tournament_draft,
    zipped,
)

SCHEDULE = "schedule.jsonl"
Forge = Callable[[EvidenceDraft], object]


def change_terms(draft: EvidenceDraft, **values: Any) -> None:
    changed = replace(draft.document.events[0], **values)
    draft.document = replace(draft.document, events=(changed,))


def change_constants(draft: EvidenceDraft, **values: Any) -> None:
    changed = replace(draft.document.ladders[0], **values)
    draft.document = replace(draft.document, ladders=(changed,))


def add_header(draft: EvidenceDraft, number: int, *lines: str) -> None:
    draft.records[number] = draft.records[number].replace("[Seed ", "\n".join([*lines, "[Seed "]), 1)


def resigned(draft: EvidenceDraft) -> Iterator[tuple[int, Record]]:
    """The records of games that a player resigned, with their places."""
    for number, text in enumerate(draft.records):
        (record,) = read_records(text.splitlines(keepends=True), "x")
        if isinstance(record, Record) and record.header("Termination") == "resignation":
            yield number, record


def change_last_move(draft: EvidenceDraft) -> None:
    """Another legal move before a player resigned."""
    number, record = next(resigned(draft))
    history = start_history(record)
    for move in record.moves[:-1]:
        history.play(move.token)
    others = set(history.position.legal_moves()) - {record.moves[-1].token}
    draft.records[number] = format_record(
        replace(record, moves=(*record.moves[:-1], RecordMove(min(others))))
    )


def exchange_results(draft: EvidenceDraft, *, cut: bool) -> None:
    """Two resigned games are won by the other side; if ``cut``, one move before, when that was to move."""
    found = {record.result: (number, record) for number, record in resigned(draft)}
    for result, other in ((Result.WHITE_WINS, Result.BLACK_WINS), (Result.BLACK_WINS, Result.WHITE_WINS)):
        number, record = found[result]
        moves = record.moves[:-1] if cut else record.moves
        headers = dict(record.headers) | {"Result": str(other), "PlyCount": str(len(moves))}
        changed = replace(record, headers=tuple(headers.items()), moves=moves, result=other)
        draft.records[number] = format_record(changed)


def drop_pair(draft: EvidenceDraft) -> None:
    del draft.rows[SCHEDULE][4:6], draft.records[4:6]


def drop_game(draft: EvidenceDraft) -> None:
    del draft.rows[SCHEDULE][5], draft.records[5]


def swap_colours(draft: EvidenceDraft) -> None:
    """Of both games of a pair, in the schedule and in the records."""
    for number in (4, 5):
        row = draft.rows[SCHEDULE][number]
        draft.change(SCHEDULE, number, white=row.black, black=row.white)
        headers = dict(re.findall(r'^\[(\w+) "(.*)"\]$', draft.records[number], re.MULTILINE))
        for one, other in (("White", "Black"), ("Black", "White")):
            for name in ("", "Version"):
                old, new = headers[one + name], headers[other + name]
                draft.records[number] = draft.records[number].replace(
                    f'[{one}{name} "{old}"]', f'[{one}{name} "{new}"]'
                )


def exchange_sequence(draft: EvidenceDraft) -> None:
    rows = draft.rows[SCHEDULE]
    one, other = rows[3].sequence, rows[8].sequence
    draft.change(SCHEDULE, 3, sequence=other)
    draft.change(SCHEDULE, 8, sequence=one)


def reorder_games(draft: EvidenceDraft) -> None:
    """As if the pairs had been recorded in another order."""
    for listed in (draft.rows[SCHEDULE], draft.records):
        listed[2:4], listed[8:10] = listed[8:10], listed[2:4]
    for number in range(len(draft.records)):
        draft.change(SCHEDULE, number, sequence=number + 1)


def annul_all(draft: EvidenceDraft) -> None:
    for number, row in enumerate(draft.rows[SCHEDULE]):
        draft.change(SCHEDULE, number, annulled=True, rated=False)
        correction = EvidenceCorrection(row.game, CorrectionEffect.ANNULLED, "Its clock was wrong.", AT)
        draft.rows["corrections.jsonl"].append(correction)


def unrate(draft: EvidenceDraft, why: str) -> None:
    """A game that was lost, and should not count."""
    draft.change(SCHEDULE, 3, rated=False)
    add_header(draft, 3, '[Rated "no"]', *([f'[Unrated "{why}"]'] if why else []))


def withhold(draft: EvidenceDraft, state: EvidenceState, fault: str = "", reason: str = "") -> None:
    """A game that was played has no result."""
    draft.change(
        SCHEDULE, 5, state=state, fault=fault, reason=reason, rated=False, worker="",
        sequence=None, started=None, finished=None,
    )  # fmt: skip
    del draft.records[5]


def repeat(draft: EvidenceDraft) -> None:
    draft.rows[SCHEDULE].insert(1, draft.rows[SCHEDULE][0])
    draft.records.insert(1, draft.records[0])


def empty(draft: EvidenceDraft) -> None:
    draft.rows[SCHEDULE].clear()
    draft.records.clear()
    if draft.kind is EvidenceKind.LADDER:
        draft.rows["versions.jsonl"].clear()
        draft.bundles.clear()


LADDERS: list[tuple[str, Forge, int, str]] = [
    ("one game of a pair twice", repeat, 1, "repeats: game 'ladder-duovallis/1/1/1' stands twice"),
    ("sequences exchanged", exchange_sequence, 1, "has the sequence 4 after 9"),
    ("a game called a repeat", lambda d: unrate(d, "repeat"), 1, "is called a repeat, and repeats no game"),
    ("a game called unrated by terms", lambda d: unrate(d, "openings"), 1, "is unrated by 'openings'"),
    ("a game unrated by owners", lambda d: unrate(d, "owner"), 3, "rated: 1 games"),
    ("a game unrated without a reason", lambda d: unrate(d, ""), 3, "rated: 1 games"),
    (
        "newer rules in a record",
        lambda d: add_header(d, 3, '[RulesVersion "9"]'),
        1,
        "the game was played by version '9' of the rules",
    ),
    ("newer rules", lambda d: change_constants(d, rules_version=9), 3, "constants: duovallis has "),
    ("draws", lambda d: change_constants(d, draw_probability=0.5), 3, "constants: duovallis has "),
    ("no constants", lambda d: setattr(d, "document", replace(d.document, ladders=())), 2, "event.json"),
    ("a longer clock", lambda d: add_header(d, 3, '[WhiteTimeControl "900+1"]'), 1, "WhiteTimeControl is"),
    ("more margin", lambda d: add_header(d, 3, '[BlackMargin "9000"]'), 1, "BlackMargin is '9000'"),
    ("a game without a result", lambda d: withhold(d, EvidenceState.WAITING), 1, "games: game "),
    ("another format", lambda d: change_terms(d, format="arena"), 2, "does not know the format 'arena'"),
    ("odd terms", lambda d: change_terms(d, off_terms={LADDER: "hair"}), 2, "off_terms"),
    ("long openings", lambda d: change_terms(d, opening_plies=10**6), 2, "larger than any"),
    (
        "a row of another ladder",
        lambda d: d.rows["tables/estimate.jsonl"].append(
            replace(d.rows["tables/estimate.jsonl"][0], ladder="dualma", elo=999.0)
        ),
        1,
        "there is nothing to compute for 'dualma'",
    ),
    ("a worker twice", lambda d: d.rows["workers.jsonl"].append(d.rows["workers.jsonl"][0]), 1, "twice"),
    ("no games", empty, 3, "games: there are no games"),
    ("results exchanged", lambda d: exchange_results(d, cut=False), 1, "was to move and resigned, which is"),
    ("another move of a bot", change_last_move, 0, ""),
    ("results exchanged, one move before", lambda d: exchange_results(d, cut=True), 0, ""),
    ("a pair that is left out", drop_pair, 0, "22 games"),
    ("a game that is left out", drop_game, 0, "23 games"),
    ("players who change sides", swap_colours, 0, ""),
    ("another order of completion", reorder_games, 0, ""),
    ("everything annulled", annul_all, 0, "24 done, 24 annulled"),
]
TOURNAMENTS: list[tuple[str, Forge, int, str]] = [
    ("a pair that is left out", drop_pair, 1, "schedule: "),
    ("a game that is left out", drop_game, 1, "one of its games is missing"),
    ("players who change sides", swap_colours, 1, "; planned is "),
    ("a game that is waiting", lambda d: withhold(d, EvidenceState.WAITING), 1, "is waiting, but its"),
    ("a game that is cancelled", lambda d: withhold(d, EvidenceState.CANCELLED), 1, "is cancelled, but its"),
    ("a tournament that runs", lambda d: change_terms(d, state=EventState.RUNNING), 2, "and not over"),
    ("other criteria", lambda d: change_terms(d, criteria=("wins",)), 1, "the criteria are wins; the format"),
    ("newer rules", lambda d: change_constants(d, rules_version=9), 3, "constants: duovallis has "),
    ("an unknown ladder", lambda d: change_constants(d, code="chess"), 2, "event.json has the ladders"),
    ("a fault of a finished game", lambda d: d.change(SCHEDULE, 1, fault="white"), 1, "has a fault"),
    ("no games", empty, 1, "planned is"),
    ("nobody", lambda d: d.rows["entries.jsonl"].clear(), 2, ""),
    (
        "a row of another ladder",
        lambda d: d.rows["tables/standings.jsonl"].append(
            replace(d.rows["tables/standings.jsonl"][0], ladder="dualma", points=99.0)
        ),
        1,
        "there is nothing to compute for 'dualma'",
    ),
    ("a repeat", lambda d: unrate(d, "repeat"), 3, "1 games are called repeats of games of their ladder"),
    ("another move of a bot", change_last_move, 0, ""),
    ("everything annulled", annul_all, 0, " annulled\n"),
]
AS_THEY_ARE = {"a row of another ladder", "a worker twice"}
"""Forgeries of what would be computed."""
KINDS = ["gauntlet", "swiss"]


def forged(draft: EvidenceDraft, forge: Forge, code: int, title: str) -> EvidenceDraft:
    """With tables that agree, where something is to be computed."""
    forge(draft)
    if code != 2 and title not in AS_THEY_ARE:
        publish_tables(draft)
    return draft


def params(rows: list[Any]) -> list[Any]:
    return [pytest.param(*row, id=row[0]) for row in rows]


def test_without_a_forgery_all_agrees(checked: Checked) -> None:
    for draft in (ladder_draft(), *map(tournament_draft, PLANS)):
        assert checked(forged(draft, lambda d: None, 0, ""))[0] == 0


@pytest.mark.parametrize(("title", "forge", "code", "said"), params(LADDERS))
def test_a_forged_ladder(title: str, forge: Forge, code: int, said: str, checked: Checked) -> None:
    found, out = checked(forged(ladder_draft(), forge, code, title))
    assert (found, said in out) == (code, True), out


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("title", "forge", "code", "said"), params(TOURNAMENTS))
def test_a_forged_tournament(
    kind: str, title: str, forge: Forge, code: int, said: str, checked: Checked
) -> None:
    found, out = checked(forged(tournament_draft(kind), forge, code, title))
    assert (found, said in out) == (code, True), out


# Files that nobody would write


def with_number(value: str) -> Callable[[dict[str, bytes]], bytes]:
    def change(files: dict[str, bytes]) -> bytes:
        name = "tables/ratings.jsonl"
        files[name] = re.sub(rb'"mu":[^,]+', f'"mu":{value}'.encode(), files[name], count=1)
        return remade(files)

    return change


def remade(files: dict[str, bytes]) -> bytes:
    """A zip with a manifest that lists what is there."""
    manifest = json.loads(files[MANIFEST])
    manifest["files"] = {
        name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        for name, content in sorted(files.items())
        if not name.startswith("manifest.json")
    }
    return zipped({**files, MANIFEST: json.dumps(manifest).encode()}.items())


def with_keys_twice(files: dict[str, bytes]) -> bytes:
    files[MANIFEST] = files[MANIFEST].replace(b'"revision": 1,', b'"revision": 2,"revision": 1,')
    return zipped(files.items())


def in_another_case(files: dict[str, bytes]) -> bytes:
    files["Records.pgn"] = files[RECORDS]
    return zipped(files.items())


ODD: list[tuple[str, Callable[[dict[str, bytes]], bytes], int, str]] = [
    ("1e308", with_number("1e308"), 2, "mu is '1e+308', not a number"),
    ("1e999", with_number("1e999"), 2, "mu is 'Infinity', not a number"),
    ("NaN", with_number("NaN"), 2, "NaN is not a number"),
    ("a huge number", with_number("9" * 5000), 2, "tables/ratings.jsonl:1: "),
    ("a text", with_number('"25"'), 2, "mu is '25', not a number"),
    ("deep", with_number("[" * 100_000), 2, "tables/ratings.jsonl:1: "),
    ("keys twice", with_keys_twice, 2, "manifest.json: the key 'revision' stands twice"),
    ("another case", in_another_case, 1, "archive: 'Records.pgn' is not in the manifest"),
    ("truncated", lambda files: zipped(files.items())[:-30], 2, "it is neither a zip nor a folder"),
    ("NUL", lambda files: remade({**files, RECORDS: files[RECORDS] + b"\x00\x1b[2J"}), 1, "records"),
]


@pytest.mark.parametrize(("change", "code", "said"), [pytest.param(*row, id=title) for title, *row in ODD])
def test_odd_files_are_named(
    change: Callable[[dict[str, bytes]], bytes],
    code: int,
    said: str,
    tmp_path: Path,
    signers: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "odd.zip"
    path.write_bytes(change(ladder_draft(4).packed()))
    found = main(["evidence", str(path), *signers])
    printed = capsys.readouterr()
    out = printed.out + printed.err
    assert (found, said in out, out.replace("\n", "").isprintable()) == (code, True, True), out
    assert code != 1 or lines_of(out, "DIFFERS")
