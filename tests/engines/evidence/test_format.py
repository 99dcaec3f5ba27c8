"""The files of an archive of evidence: what is written is read again, and nothing else is."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.evidence.format import (
    EVENT,
    FORMAT,
    MANIFEST,
    MAX_LINE,
    TABLES,
    CorrectionEffect,
    EvidenceCorrection,
    EvidenceDocument,
    EvidenceFile,
    EvidenceKind,
    EvidenceManifest,
    EvidenceRating,
    format_version,
    parse_version,
    read_document,
    read_lines,
    write_document,
    write_line,
)
from engines.evidence.strict_json import FormatError

NAME = "tables/ratings.jsonl"
RATING = EvidenceRating("trio", "Stone Age/3", 0.1 + 0.2, 8.1, 3, 0, 1, 1.0)
GIVEN = json.loads(write_line(RATING))
EVERY = sorted({kind for files in TABLES.values() for kind in files.values()}, key=str)
FLOATS = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e18, max_value=1e18)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


def read(text: str | bytes) -> list[EvidenceRating]:
    content = text.encode() if isinstance(text, str) else text
    return list(read_lines(EvidenceRating, io.BytesIO(content), NAME))


def test_a_number_is_written_to_the_bit() -> None:
    assert b'"mu":0.30000000000000004,' in write_line(RATING)
    assert read(write_line(RATING)) == [RATING]


@given(mu=FLOATS, name=TEXTS)
def test_every_number_and_text_is_read_as_it_was_written(mu: float, name: str) -> None:
    row = EvidenceRating("trio", name, mu, 1.0, 0, 0, 0, mu)
    assert read(write_line(row) * 2) == [row, row]
    assert write_line(read(write_line(row))[0]) == write_line(row)


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_every_kind_of_line_is_read_as_it_was_written(kind: type[Any], data: st.DataObject) -> None:
    st.register_type_strategy(float, FLOATS)
    st.register_type_strategy(str, TEXTS)
    st.register_type_strategy(int, st.integers(-(2**63) + 1, 2**63 - 1))
    row = data.draw(st.from_type(kind))
    assert list(read_lines(kind, io.BytesIO(write_line(row)), "x")) == [row]


def test_a_manifest_is_read_as_it_was_written() -> None:
    manifest = EvidenceManifest(
        FORMAT, EvidenceKind.LADDER, "a.example", "trio", "Trio", 2, "ab" * 32, "a game is annulled",
        "2026-11-29T10:00:00+00:00", "1.0", {"records.pgn": EvidenceFile("cd" * 32, 7)},
    )  # fmt: skip
    content = write_document(manifest)
    assert read_document(EvidenceManifest, content, MANIFEST) == manifest
    assert content.count(b"\n") > 10


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "tables/ratings.jsonl:1: the last line has no end"),
        ("{\n", "tables/ratings.jsonl:1: it is not JSON: "),
        ("[]\n", "tables/ratings.jsonl:1: the line is '[]', not an object"),
        ("{}\n", "tables/ratings.jsonl:1: the line has no 'draws'"),
        ('{"mu":1,"mu":2}\n', "tables/ratings.jsonl:1: the key 'mu' stands twice"),
        ("[" * 100_000 + "\n", "tables/ratings.jsonl:1: it is nested too deeply"),
        (b"\xff\n", "tables/ratings.jsonl:1: byte 0 is not UTF-8"),
        ("\n", "tables/ratings.jsonl:1: it is not JSON: "),
        ("1" * MAX_LINE + "\n", f"tables/ratings.jsonl:1: over {MAX_LINE} bytes"),
    ],
)
def test_what_is_no_line_is_refused_with_its_place(text: str | bytes, said: str) -> None:
    with pytest.raises(FormatError) as refused:
        read(text)
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("wins", 1.0, "wins is '1.0', not a whole number"),
        ("wins", True, "wins is 'true', not a whole number"),
        ("wins", None, "wins is 'null', not a whole number"),
        ("wins", 2**63, "wins is '9223372036854775808', not a whole number"),
        ("mu", "25", "mu is '25', not a number"),
        (
            "mu",
            10**300,
            f"mu is '1{'0' * 79}'…, not a number",
        ),
        ("version", 3, "version is '3', not a text"),
        ("version", "\ud800", "version is '\\ud800', not a text: it has half a character"),
        ("more", 1, "the line has the unknown key 'more'"),
    ],
)
def test_a_value_of_another_type_is_refused(key: str, value: object, said: str) -> None:
    with pytest.raises(FormatError) as refused:
        read(json.dumps({**GIVEN, key: value}) + "\n")
    assert str(refused.value) == f"tables/ratings.jsonl:1: {said}"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_only_finite_numbers_are_read(number: str) -> None:
    line = json.dumps({**GIVEN, "mu": 0}).replace('"mu": 0', f'"mu": {number}')
    with pytest.raises(FormatError, match="not a number"):
        read(line + "\n")


def test_the_line_of_an_error_is_counted() -> None:
    with pytest.raises(FormatError, match=r"^tables/ratings.jsonl:3: "):
        read(write_line(RATING) * 2 + b"{}\n")


def test_an_unknown_effect_is_refused_with_those_that_are_known() -> None:
    line = write_line(EvidenceCorrection("a/1/1/1", CorrectionEffect.RATED, "", ""))
    with pytest.raises(FormatError, match="effect is 'void', not one of annulled, rated, unrated"):
        list(read_lines(EvidenceCorrection, io.BytesIO(line.replace(b"rated", b"void")), "x"))


def test_an_error_within_a_list_names_its_field() -> None:
    with pytest.raises(FormatError, match=r"^event.json: code is '1', not a text"):
        read_document(EvidenceDocument, _document(b'"trio"', b"1"), EVENT)


def _document(old: bytes, new: bytes) -> bytes:
    constants = {
        "code": "trio", "rules_version": 1, "ply_limit": 9, "mu": 25.0, "sigma": 8.0, "beta": 4.0, "tau": 0.0,
        "new_version_sigma": 3.0, "draw_probability": 0.1, "draw_margin": 0.7,
    }  # fmt: skip
    return json.dumps({"ladders": [constants], "events": []}).encode().replace(old, new)


def test_a_version_is_split_at_its_last_slash() -> None:
    assert parse_version(format_version("A/B", 12)) == ("A/B", 12)


@pytest.mark.parametrize("text", ["", "A", "/1", "A/", "A/-1", "A/1_0", "A/٣", "A/1234567890"])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="is not NAME/NUMBER"):
        parse_version(text)
