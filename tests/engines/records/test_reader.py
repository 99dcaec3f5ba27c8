from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.protocol import Score
from engines.records import (
    MoveNote,
    Record,
    RecordError,
    RecordMove,
    format_record,
    read_headers,
    read_records,
    read_scores,
    read_times,
    reader,
    turned_at,
)
from engines.rules import GAMES
from engines.rules.base import Result
from tests.engines.records.test_notes import notes
from tests.support.records import random_moves, read_one, read_text, record_of

HEAD = '[Event "?"]\n[Game "dogon-kulei"]\n\n'


def tokens(record: Record) -> list[str]:
    return [move.token for move in record.moves]


def failure(text: str) -> RecordError:
    (error,) = read_text(text)
    assert isinstance(error, RecordError)
    return error


def test_headers_moves_notes_and_result_are_read() -> None:
    record = read_one(HEAD + "1. c1+ {book} 1... f2- {+0.35/12 0.104s} 2. d1+ 1-0\n")
    assert record.headers == (("Event", "?"), ("Game", "dogon-kulei"))
    assert record.moves == (
        RecordMove("c1+", book=True),
        RecordMove("f2-", MoveNote(Score(35), 12, 104)),
        RecordMove("d1+"),
    )
    assert record.result is Result.WHITE_WINS


def test_it_is_known_where_everything_stood() -> None:
    _, record = read_text(HEAD + "c1+ *\n\n" + HEAD + "c1+\nf2- *\n")
    assert isinstance(record, Record)
    assert record.source is not None
    assert record.source.at() == "games.pgn:6: game 2"
    assert [move.line for move in record.moves] == [9, 10]


@pytest.mark.parametrize(
    "movetext",
    [
        "1. c1+ f2- 2. d1+ *",
        "1.c1+ f2- 2.d1+ *",
        "1 c1+ 1... f2- 2 d1+*".replace("+*", "+ *"),
        "c1+ f2- d1+ *",
        "c1+\nf2-\n\nd1+\n\n\n*",
        "1. c1+! f2-?? 2. d1+!? *",
        "1. c1+ $1 f2- $139 2. d1+ $ *",
        "{before} 1. c1+ {it {is} f2- {+0.35 but wrong} 2. d1+ {} *",
        "1. c1+ ; a remark } ) with 1-0 in it\nf2- 2. d1+ *",
        "1. c1+ (1. a1+ b2- (1... c2+ {deep ) * } 2. x) 1-0) f2- 2. d1+ (\n2. e1+ ; )\n) *",
        "1. c1+\n% 1-0 escaped { (\nf2- 2. d1+ *",
        "1. c1+ {a comment\nover ( two ; lines\n% } f2- 2. d1+ *",
        "... c1+ .. f2- d1+ * {after the end} ; and more",
        "99. c1+ 7... f2- 3. d1+ *",
    ],
)
def test_what_others_write_is_read_past(movetext: str) -> None:
    record = read_one(HEAD + movetext + "\n")
    assert tokens(record) == ["c1+", "f2-", "d1+"]
    assert all(move.note is None for move in record.moves)


def test_notes_in_variations_belong_to_nobody() -> None:
    assert read_one(HEAD + "c1+ (d1+ {0.100s}) f2- *").moves[0].note is None


def test_a_note_may_follow_a_remark_and_be_broken_over_lines() -> None:
    record = read_one(HEAD + "c1+ {good} {+0.35/12\n0.104s  pv\tc2+} {0.500s} *")
    assert record.moves[0].note == MoveNote(Score(35), 12, 104, pv=("c2+",))


@pytest.mark.parametrize("prefix", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_and_a_byte_order_mark_do_not_matter(prefix: str, end: str) -> None:
    text = format_record(record_of("dogon-kulei", ("c1+", "f2-")))
    (record,) = read_records((prefix + text.replace("\n", end)).splitlines(keepends=True), "x")
    assert record == read_one(text)


def test_a_last_line_needs_no_end() -> None:
    assert tokens(read_one(HEAD + "1. c1+ *")) == ["c1+"]


def test_headers_may_share_a_line_and_hold_anything() -> None:
    record = read_one('[A "1"][B "x ] \\" \\\\ {"] \n [ C   "" ]\n\n*')
    assert record.headers == (("A", "1"), ("B", 'x ] " \\ {'), ("C", ""))
    assert record.header("B") == 'x ] " \\ {'
    assert record.header("Z", "none") == "none"


def test_a_header_s_name_has_the_characters_of_pgn() -> None:
    record = read_one('[White:Type "program"]\n[A+b-c#d=e "2"]\n\n*')
    assert record.headers == (("White:Type", "program"), ("A+b-c#d=e", "2"))
    assert read_one('[WhiteType: "program"]\n\n*').header("WhiteType:") == "program"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('"Greedy \\"', "Greedy \\"),
        ('"The "Open" Cup"', 'The "Open" Cup'),
        ('""', ""),
        ('"a "b" \\\\ c"', 'a "b" \\ c'),
    ],
)
def test_quotes_and_a_last_backslash_need_no_escape(written: str, value: str) -> None:
    record = read_one(f'[Event {written}]\n[Site {written}] [Round "1"]\n\nc1+ *')
    assert record.headers == (("Event", value), ("Site", value), ("Round", "1"))


def test_a_header_may_go_on_in_the_next_lines() -> None:
    record = read_one('[Event "A long\n  name"]\n[Site\n"x"\n]\n\nc1+ *')
    assert record.headers == (("Event", "A long name"), ("Site", "x"))


def test_a_byte_order_mark_may_begin_each_of_several_joined_files() -> None:
    first, second = read_text(f"\ufeff{HEAD}c1+ *\n\n\ufeff{HEAD}c1+ f2- *\n")
    assert all(isinstance(one, Record) and one.header("Game") for one in (first, second))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_named(encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    file.write_text(GOOD + GOOD, encoding=encoding)
    with file.open(encoding="utf-8", errors="backslashreplace") as lines:
        (error,) = read_records(lines, "games.pgn")
    assert str(error) == "games.pgn:1: game 1: not UTF-8: it looks like UTF-16"


def test_nothing_is_no_game() -> None:
    assert read_text("") == []
    assert read_text("\ufeff\n\n% just an escape\n\n; and a remark\n{and another}\n") == []


def test_a_game_is_handed_out_before_the_next_is_read() -> None:
    def lines() -> Iterator[str]:
        yield "c1+ 1-0\n"
        raise AssertionError("read too far")

    assert isinstance(next(read_records(lines(), "x")), Record)


@pytest.mark.parametrize(
    ("movetext", "message"),
    [
        ("1. c1+ f2, d1+ *", "games.pgn:4: game 1: ply 2: 'f2,' is not spelled as a move"),
        ("1. c1+\nf2-\n0-0 *", "games.pgn:6: game 1: ply 3: '0-0' is not spelled as a move"),
        ("c1+ } *", "games.pgn:4: game 1: ply 2: '}' closes no comment"),
        ("c1+ ) *", "games.pgn:4: game 1: ply 2: ')' closes no variation"),
        ("c1+ -- *", "games.pgn:4: game 1: ply 2: '--' is not spelled as a move"),
        ("c1+ \ufffd\ufffd *", "games.pgn:4: game 1: ply 2: '\ufffd\ufffd' is not spelled as a move"),
        ("c1+ f2-", "games.pgn:4: game 1: ply 3: the moves do not end with a result"),
        ("c1+ f2- 1-0-0", "games.pgn:4: game 1: ply 3: '1-0-0' is not spelled as a move"),
        ("c1+\n{and so on *", "games.pgn:5: game 1: the comment opened in line 5 is never closed"),
        ("c1+ (d1+\n(e1+) *", "games.pgn:4: game 1: the variation opened in line 4 is never closed"),
        (
            "c1+ " + "é" * 200 + " *",
            "games.pgn:4: game 1: ply 2: '" + "é" * 79 + "…' is not spelled as a move",
        ),
    ],
)
def test_a_complaint_names_file_line_game_ply_and_word(movetext: str, message: str) -> None:
    assert str(failure(HEAD + movetext)).startswith(message)


def test_the_position_of_a_complaint_is_that_before_the_ply() -> None:
    error = failure(HEAD + "1. c1+ ??? *")
    assert str(error).endswith("(in position '4,4,4,4,4,5/4,4,0,5,5,5 b 0 0 - - 1')")
    assert "in position" not in str(failure(HEAD + "1. zz9 ??? *"))
    assert "in position" not in str(failure('[Game "chess"]\n\ne4 ??? *'))


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ('[Event "?"]\n[White]\n', "games.pgn:2: game 1: cannot read the header '[White]'"),
        ('[Event "?\n', "games.pgn:1: game 1: cannot read the header '[Event \"?'"),
        ('[Event "?"] x\n', "games.pgn:1: game 1: cannot read the header 'x'"),
        ('[Event "1"]\n[Event "2"]\n', "games.pgn:2: game 1: header Event is given twice"),
    ],
)
def test_a_header_that_cannot_be_read_is_named(headers: str, message: str) -> None:
    assert str(failure(headers + "\nc1+ *")) == message


GOOD = '[Event "good"]\n\n1. c1+ f2- 1-0\n'


@pytest.mark.parametrize(
    "bad",
    [
        "",
        '[Event "bad"]\n\n1. c1+ ?!? f2- { 1-0 } 0-1\n\n',
        '[Event "bad"]\n\n1. c1+ {never closed 1-0\n\n',
        '[Event "bad"]\n\n1. c1+ {never closed 1-0\n',
        '[Event "bad"]\n\n1. c1+ (never closed { } 1-0\n\n',
        '[Event "bad"]\n\n1. c1+ no result\n\n',
        '[Event "bad"]\n\n1. c1+ no result\n',
        '[Event "bad"]\n[Broken\n\n1. c1+ 1-0\n\n',
        '[Event "bad"\n\n1-0\n\n',
        '[Event "bad"]\n[Event "bad"]\n\n*\n\n',
        '[Event "bad"]\n[White "no moves"]\n\n',
        '[Event "bad"]\n\n\0\x01\x02 1-0\n\n',
    ],
)
def test_one_bad_game_never_loses_the_rest(bad: str) -> None:
    first, *between, last = read_text(GOOD + "\n" + bad + GOOD)
    assert first == last == read_one(GOOD)
    assert len(between) == (1 if bad else 0)
    assert all(isinstance(error, RecordError) for error in between)


@st.composite
def records(draw: st.DrawFn) -> Record:
    code = draw(st.sampled_from(list(GAMES)))
    moves = random_moves(code, draw(st.integers(1, 2)))
    moves = moves[: draw(st.integers(0, len(moves)))]
    book = draw(st.integers(0, len(moves)))
    texts = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=20)
    record = record_of(
        code,
        moves,
        book=book,
        white=draw(texts),
        black=draw(texts),
        evidence=draw(texts),
        more=draw(
            st.dictionaries(st.from_regex("X[A-Za-z0-9_]{0,9}", fullmatch=True), texts, max_size=2)
        ).items(),
    )
    noted = draw(st.lists(st.none() | notes, min_size=0, max_size=len(moves) - book))
    chosen = [
        RecordMove(move.token, note)
        for move, note in zip(record.moves[book:], [*noted, *[None] * len(moves)], strict=False)
    ]
    return replace(record, moves=(*record.moves[:book], *chosen))


@given(records())
def test_every_record_is_read_as_it_was_written(record: Record) -> None:
    text = format_record(record)
    assert read_one(text) == record
    assert max(map(len, text.split("\n\n")[-1].splitlines())) < 80


DAMAGE = (
    *'[]{}()"\\;%$!*\n\r \t',
    "1-0",
    " 0-1\n",
    "\n\n",
    "[Event",
    '[Event "x"]\n',
    "1.",
    "...",
    "\ufeff",
    "\x85",
    "é",
)


@given(
    st.lists(records(), max_size=3),
    st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 5), st.sampled_from(DAMAGE)), max_size=3),
    st.booleans(),
)
def test_the_headers_alone_are_those_of_the_whole_records(
    games: list[Record], damage: list[tuple[int, int, str]], keeps_ends: bool
) -> None:
    """Whatever is damaged, the same records are refused with the same words."""
    text = "\n".join(map(format_record, games))
    for place, length, put in damage:
        text = text[:place] + put + text[place + length :]
    lines = text.splitlines(keepends=keeps_ends)
    whole = list(read_records(lines, "games.pgn"))
    alone = list(read_headers(lines, "games.pgn"))
    assert [summary(one) for one in alone] == [summary(one) for one in whole]
    assert not any(isinstance(one, Record) and one.moves for one in alone)


def summary(one: Record | RecordError) -> object:
    return str(one) if isinstance(one, RecordError) else (one.headers, one.result, one.source)


def test_written_games_are_read_at_once_and_before_the_next_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    text = format_record(record_of("dogon-kulei", ("c1+", "f2-"), book=1, white='Dora "\\" Ö'))

    def lines() -> Iterator[str]:
        yield from text.splitlines()
        yield from ("", *text.splitlines())
        raise AssertionError("read too far")

    whole = read_one(text)
    monkeypatch.setattr(reader, "is_token", None)  # used for other games
    first, second = itertools.islice(read_headers(lines(), "x"), 2)
    assert first == second == replace(whole, moves=())


@given(records())
def test_the_times_alone_are_those_of_the_whole_record(record: Record) -> None:
    times = [None if move.note is None else move.note.ms for move in record.moves]
    assert read_times(format_record(record)) == times


@given(records())
def test_the_scores_alone_are_those_of_the_whole_record(record: Record) -> None:
    scores = [None if move.note is None else move.note.score for move in record.moves]
    wanted = [
        None
        if score is None
        else math.copysign(math.inf, score.mate)
        if score.mate is not None
        else (score.centipawns or 0) / 100
        for score in scores
    ]
    assert read_scores(format_record(record)) == wanted


@pytest.mark.parametrize(
    ("scores", "index"),
    [
        ([0.2, 0.0, None, -0.5, -0.9, -math.inf], 3),
        ([0.2, -0.1, 0.15, -0.2], 3),
        ([-0.2, -0.1], None),
        ([0.2, -0.1, 0.05], None),
        ([None, None], None),
        ([], None),
    ],
)
def test_a_game_turned_at_the_first_score_since_which_all_were_negative(
    scores: list[float | None], index: int | None
) -> None:
    assert turned_at(scores) == index
