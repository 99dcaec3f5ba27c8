"""The fields of each ladder's position strings: how they are written, and what is refused."""

from __future__ import annotations

import pytest

from engines.rules import GAMES, Outcome, PositionError, Reason, Result

BLANK = "0,0,0,0,0,0"
DUOVALLIS = "4b,4b,4b,4b,4b,4b/0,4w,4w,4w,4w,0/0,4b,4b,4b,4b,0/4w,4w,4w,4w,4w,4w w 0 0 0"
DUALMA = "5/6/7/8/9/8/7/6/5 b 0"
PLACING = "5/6/7/3,w,4/3,b,5/8/7/6/5"
ELEVEN_PAIRS = "b,w,b,w,b/w,b,w,b,w,w/7/8/9/8/7/w,b,w,b,w,b/b,w,b,w,b"
MIDDLE = "b,w,b,w,b/w,4,b/2,wb,4/8/2,b,1,bw,b,w,2/3,w,4/7/b,4,w/w,b,w,b,w"
STUCK = "5/6/7/8/wb,1,wb,1,wb,1,wb,2/8/wb,1,wb,1,wb,1,wb/6/wb,1,wb,1,wb w 21"
ROW = "4,4,4,4,4,4"
KULEI = f"{ROW}/{ROW} w 0 0 - - 0"
GAGARA = "6,6,6,6,6,6,6,6/6,6,6,6,6,6,6,6 w 0 0 - - 0"
DUPLOLINE = "4/5/6/7/6/5/4 w 0"
AFTER_TWO = "4/5/2,d,r,2/3,D,3/6/5/4 w 2"
MIXED = "4/5/1,r,dR,3/2,Dr,d,D,2/4,R,1/5/4"
FULL = "L,L,L,L/L,L,L,L,L/L,L,L,L,L,L/L,L,L,{}/6/5/4 w 36"
REPLACED = "d,d,d,r/d,D,D,d,d/D,D,d,d,D,D/D,d,d,D,D,d,d/d,D,D,d,d,D/D,D,d,D,d/1,D,D,d w 36"
STARTS = dict(zip(GAMES, (DUOVALLIS, DUALMA, KULEI, GAGARA, DUPLOLINE), strict=True))


def after(start: str, *changes: tuple[str, str]) -> list[str]:
    return [start.replace(old, new) for old, new in changes]


READ = {
    "duovallis": [
        f"{BLANK}/{BLANK}/{BLANK}/{BLANK} b 2 2 999999999",
        f"53w,0,0,0,0,0/{BLANK}/{BLANK}/{BLANK} w 0 0 0",
        f"{BLANK}/{BLANK}/{BLANK}/39w40b,0,0,0,0,0 w 0 1 0",
    ],
    "dualma": [STUCK, f"{PLACING} w 1", f"{ELEVEN_PAIRS} w 11", f"{MIDDLE} b 999999998"],
    "dogon-kulei": [
        "48,0,0,0,0,0/0,0,0,0,0,0 b 0 0 p -2 999999999",
        "0,0,0,0,0,0/0,0,0,0,0,0 w 48 0 - +2 0",
        "0,0,0,0,0,0/0,0,0,0,0,0 w 0 48 p - 0",
        *(f"{ROW}/{ROW} w 0 0 p {run} 8" for run in ("+0", "-0", "+1", "-1")),
    ],
    "duploline": [
        *(AFTER_TWO, REPLACED, "4/5/6/3,DR,3/6/5/4 b 999999999"),
        *(FULL.replace("L", letter).format("4") for letter in "DdRr"),
    ],
}
"""Canonical strings, some of positions that play never reaches."""


@pytest.mark.parametrize(
    ("code", "text"),
    [(code, text) for code, start in STARTS.items() for text in (start, *READ.get(code, []))],
)
def test_a_position_string_reads_and_writes_the_same_whether_play_reaches_it_or_not(
    code: str, text: str
) -> None:
    position = GAMES[code].position.parse(text)
    assert str(position) == text
    assert position == GAMES[code].position.parse(text)
    assert position.outcome().decided == (not list(position.legal_moves()))


def test_the_starts_are_written_like_this() -> None:
    assert {code: str(game.position.initial()) for code, game in GAMES.items()} == STARTS
    shown = {"dualma": (DUALMA, STUCK), "duploline": (DUPLOLINE, AFTER_TWO)}
    assert all(f"`{text}`" in GAMES[code].rules for code, texts in shown.items() for text in texts)


@pytest.mark.parametrize(
    ("code", "text", "cells", "held"),
    [
        (
            "duovallis",
            f"0,0,0,0,2w3b,0/{BLANK}/0,3b,0,0,0,0/0,4w,0,0,0,0 w 0 0 0",
            24,
            "c3=0 b1=4w b2=3b e4=2w3b",
        ),
        ("dualma", f"{MIDDLE} w 31", 61, "d4=w e6=b e5=bw g5=wb e4="),
        ("dogon-kulei", "1,2,3,4,5,6/7,8,0,0,1,2 b 5 4 p +1 7", 12, "a2=1 f2=6 a1=7 b1=8 c1=0 f1=2"),
        ("duploline", f"{MIXED} w 10", 37, "d5=D d4=d c5=R e3=r d3=Dr e4=dR a1="),
    ],
)
def test_ranks_and_rows_are_written_from_the_top_and_cells_from_left_to_right(
    code: str, text: str, cells: int, held: str
) -> None:
    board = GAMES[code].position.parse(text).board()
    assert len(board) == cells
    assert (
        " ".join(f"{cell}={board[cell]}" for cell in (word.partition("=")[0] for word in held.split()))
        == held
    )


ONE_EACH = f"4b,0,0,0,0,0/{BLANK}/{BLANK}/4w,0,0,0,0,0 w 1 0 0"
SEEDS = "4,4,4,4,4,2/4,4,4,4,4,4 w 1 1 - - 0"


@pytest.mark.parametrize(
    ("code", "text", "later", "others"),
    [
        (
            "duovallis",
            ONE_EACH,
            f"{ONE_EACH[:-1]}4",
            after(ONE_EACH, ("w 1 0 0", "b 1 0 1"), (" 1 0 ", " 0 1 "), ("4b", "4w"), ("4w", "4b")),
        ),
        (
            "dualma",
            f"{MIDDLE} w 31",
            f"{MIDDLE} w 33",
            after(
                f"{MIDDLE} w 31",
                ("w 31", "b 32"),
                ("bw,b,w", "b,bw,w"),
                ("bw,b,w", "wb,b,w"),
                (",wb,", ",bw,"),
            ),
        ),
        (
            "dogon-kulei",
            SEEDS,
            f"{SEEDS[:-1]}8",
            [
                *after(
                    SEEDS,
                    ("w 1 1 - - 0", "b 1 1 - - 1"),
                    (" 1 1 ", " 2 0 "),
                    (" - - ", " p - "),
                    ("4,2", "2,4"),
                ),
                *after(SEEDS, *((" - - ", f" - {run} ") for run in ("+0", "-0", "+1"))),
            ],
        ),
        (
            "duploline",
            f"{MIXED} w 10",
            f"{MIXED} w 12",
            after(f"{MIXED} w 10", ("w 10", "b 11"), ("dR", "Dr"), ("dR", "dr"), ("dR", "R"), ("d,D", "D,d")),
        ),
    ],
)
def test_every_field_of_the_position_string_except_the_ply_counts_for_repetition(
    code: str, text: str, later: str, others: list[str]
) -> None:
    parse = GAMES[code].position.parse
    assert parse(later).key() == parse(text).key()
    assert parse(later) != parse(text)
    assert len({parse(each).key() for each in (text, *others)}) == len(others) + 1


REFUSED = {
    "duovallis": [
        ("", "bad position ''"),
        (DUOVALLIS.replace(" 0 0 0", " 0 0"), "bad position"),
        (f"{BLANK}/{BLANK}/{BLANK} w 0 0 0", "bad rank4/rank3/rank2/rank1"),
        (f"{BLANK}/{BLANK}/{BLANK}/{BLANK}/ w 0 0 0", "5 ranks instead of 4"),
        (f"{BLANK}/{BLANK},0/{BLANK}/{BLANK} w 0 0 0", "bad rank3 '0,0,0,0,0,0,0': 7 holes instead of 6"),
        (DUOVALLIS.replace("/4w,4w", "/4w,w"), "bad rank1 hole b1 'w'"),
        *(
            (DUOVALLIS.replace("0,4w", f"{hole},4w"), f"bad rank3 hole a3 '{hole[:4]}")
            for hole in ("", *"00 0w 01w 1b1w 1w0b 1W 1 -1w 1w2w \u0661w 1000000000w".split())
        ),
        (DUOVALLIS.replace("0,4w", f"{'4' * 100_000},4w"), "bad rank3 hole a3 '4444"),
        (DUOVALLIS.replace("w 0 0 0", "w 00 0 0"), "bad whiteKept '00'"),
        (DUOVALLIS.replace("w 0 0 0", "w 0 - 0"), "bad blackKept '-'"),
        (DUOVALLIS.replace("w 0 0 0", "b 0 0 0"), "bad side 'b'"),
        (DUOVALLIS.replace("w 0 0 0", "x 0 0 0"), "bad side 'x'"),
        (DUOVALLIS.replace("w 0 0 0", "w 0 0 00"), "bad ply '00'"),
        (DUOVALLIS.replace("w 0 0 0", "w 0 0 1000000000"), "bad ply '1000000000'"),
        (DUOVALLIS.replace("w 0 0 0", "w 3 0 0"), "bad whiteKept '3'"),
        (DUOVALLIS.replace("w 0 0 0", "w 0 3 0"), "bad blackKept '3'"),
        (DUOVALLIS.replace("0,4w", "999999999w,4w"), "over 160"),
        (DUOVALLIS.replace("0,4w", "1w,4w"), "white + 3·black is 161 with the kept stones, over 160"),
        (DUOVALLIS.replace("0,4w", "1b,4w"), "white + 3·black is 163 with the kept stones, over 160"),
        (DUOVALLIS.replace("w 0 0 0", "w 1 0 0"), "white + 3·black is 163 with the kept stones, over 160"),
        (DUOVALLIS.replace("w 0 0 0", "w 0 1 0"), "white + 3·black is 161 with the kept stones, over 160"),
        (f"54w,0,0,0,0,0/{BLANK}/{BLANK}/{BLANK} w 0 0 0", "3·white + black is 162 with the kept stones"),
    ],
    "dualma": [
        ("", "bad position | 1 field instead of 3"),
        (f"{PLACING} w", "bad position | 2 fields"),
        (f"{PLACING} w 1 -", "bad position | 4 fields"),
        (f"{PLACING}  w 1", "bad position | 4 fields"),
        (f"{PLACING} w 1 ", "bad position | 4 fields"),
        (f"{PLACING}\tw 1", "bad position | 2 fields"),
        (f"{PLACING} W 1", "side 'W'"),
        (f"{PLACING} x 1", "side 'x'"),
        (f"{PLACING} b 1", "side 'b' | ply 1"),
        (f"{PLACING} w 01", "ply '01'"),
        (f"{PLACING} w -1", "ply '-1'"),
        (f"{PLACING} w 1.0", "ply '1.0'"),
        (f"{MIDDLE} b 1000000000", "ply '1000000000'"),
        (STUCK.replace("8/wb,1", "8/wbb,1"), "rows | 'wbb'"),
        (STUCK.replace("8/wb,1", "8/Wb,1"), "rows | 'Wb'"),
        (STUCK.replace("5/6", "5/1,5"), "rows | row h | '1,5'"),
        (STUCK.replace("5/6", "5/7"), "rows | row h | '7'"),
        (STUCK.replace("5/6", "5/5"), "rows | row h | 5 cells instead of 6"),
        (STUCK.replace("5/6", "5/6/"), "rows | 10 rows instead of 9"),
        *(
            (f"5/6/7/3,w,4/{row}/8/7/6/5 w 1", "row")
            for row in ("1,1,1,b,5", "2,1,b,5", "0,3,b,5", "3,b,05", "3,b,2,3", "3,b", "3,b,6", "03,b,5")
        ),
        (f"{ELEVEN_PAIRS.replace('/7/8/', '/7/w,b,6/')} w 11", "rows | 12 white and 12 black"),
        (f"{ELEVEN_PAIRS.replace('/7/8/', '/7/w,7/')} w 11", "rows | 12 white"),
        ("5/6/7/3,w,4/9/8/7/6/5 w 1", "rows | 1 white and 0 black"),
        (f"{ELEVEN_PAIRS.replace('w,w/7/', 'w,1/7/')} w 11", "rows | 10 white and 11 black"),
        ("5/6/7/3,wb,4/9/8/7/6/5 w 1", "rows | stack"),
        ("5/6/7/8/4,w,4/3,b,4/7/6/5 w 1", "rows | centre"),
        (f"{PLACING} w 3", "ply '3' | 1 discs"),
        ("5/6/7/8/9/8/7/6/5 b 2", "ply '2'"),
        (f"{MIDDLE} w 9", "ply '9' | 11 plies"),
        (f"{ELEVEN_PAIRS} b 10", "ply '10'"),
    ],
    "dogon-kulei": [
        ("", "bad position ''"),
        (f"{ROW}/{ROW} w 0 0 - 0", "bad position"),
        (f"{ROW} w 0 0 - - 0", f"bad rank2/rank1 '{ROW}': 1 rank instead of 2"),
        (f"{ROW}/{ROW}/ w 0 0 - - 0", "3 ranks instead of 2"),
        ("4,4,4,4,4/4,4,4,4,4,8 w 0 0 - - 0", "bad rank2 '4,4,4,4,4': 5 holes instead of 6"),
        (f"{ROW}/{ROW},0 w 0 0 - - 0", f"bad rank1 '{ROW},0': 7 holes instead of 6"),
        (f"4,4,x,4,4,4/{ROW} w 0 0 - - 0", "bad rank2 hole c2 'x'"),
        *(
            (f"{ROW}/4,{hole},4,4,4,{rest} w 0 0 - - 0", f"bad rank1 hole b1 '{hole}'")
            for hole, rest in (("04", 4), ("", 8), ("-4", 12), ("1000000000", 4))
        ),
        *(
            (f"{ROW}/{ROW} {fields}", complaint)
            for fields, complaint in (
                ("W 0 0 - - 0", "bad side 'W'"),
                ("b 0 0 - - 0", "bad side 'b'"),
                ("w 00 0 - - 0", "bad whiteStore '00'"),
                ("w 0 x - - 0", "bad blackStore 'x'"),
                ("w 0 0 P - 0", "bad passed 'P'"),
                ("w 0 0 + - 0", "bad passed '+'"),
                ("w 0 0 - + 0", "bad run '+'"),
                ("w 0 0 - +3 0", "bad run '+3'"),
                ("w 0 0 - +00 0", "bad run '+00'"),
                ("w 0 0 - 0 0", "bad run '0'"),
                ("w 0 0 - - 1000000000", "bad ply '1000000000'"),
                ("w 0 0 - - x", "bad ply 'x'"),
                ("w 1 0 - - 0", "49 seeds with the stores instead of 48"),
            )
        ),
        (GAGARA, "8 holes instead of 6"),
        (f"{ROW}/4,4,4,4,4,3 w 0 0 - - 0", "47 seeds with the stores instead of 48"),
    ],
    "dogon-gagara": [(f"{GAGARA[:30]}5{GAGARA[31:]}", "95 seeds with the stores instead of 96")],
    "duploline": [
        ("", "position | 1 field instead of 3"),
        ("4/5/6/7/6/5/4 w", "position | 2 fields"),
        ("4/5/6/7/6/5/4 w 0 0", "position | 4 fields"),
        ("4/5/6/7/6/5/4  w 0", "position | 4 fields"),
        ("4/5/6/7/6/5/4 b 0", "side 'b' | ply 0"),
        ("4/5/6/7/6/5/4 W 0", "side 'W'"),
        (AFTER_TWO.replace("w 2", "w 3"), "side 'w' | ply 3"),
        (AFTER_TWO.replace("w 2", "w 02"), "ply '02'"),
        (AFTER_TWO.replace("w 2", "w +2"), "ply '+2'"),
        (AFTER_TWO.replace("w 2", "w 1000000000"), "ply '1000000000'"),
        *(
            (f"4/5/6/3,{cell},3/6/5/4 w 2", f"rows | row d | '{cell}'")
            for cell in ("rD", "Dd", "RR", "DRr", "w")
        ),
        ("4/5/6/1,2,D,3/6/5/4 w 2", "rows | row d | '1,2,D,3'"),
        ("4/5/6/3,D,4/6/5/4 w 2", "rows | row d | 8 cells instead of 7"),
        ("4/5/6/3,D,3/6/5 w 2", "rows | 6 rows instead of 7"),
        *(
            (FULL.replace("L", letter).format(f"{letter},3"), f"rows | 19 pieces '{letter}'")
            for letter in "DdRr"
        ),
        *(
            (f"{rows} w 2", "rows | one connected group")
            for rows in ("4/5/6/D,1,D,4/6/5/4", "4/5/6/6,D/D,5/5/4", "4/5/6/D,6/5,D/5/4")
        ),
        *(
            (f"4/5/6/7/6/5/4 {turn}", "rows | empty only at the start")
            for turn in ("w 2", "b 1", "w 999999998")
        ),
    ],
}
"""What is refused, and words of the refusal with bars between them."""


@pytest.mark.parametrize(
    ("code", "text", "words"), [(code, text, words) for code, rows in REFUSED.items() for text, words in rows]
)
def test_anything_but_the_canonical_spelling_is_refused_with_a_message_that_names_the_field(
    code: str, text: str, words: str
) -> None:
    with pytest.raises(PositionError) as refused:
        GAMES[code].position.parse(text)
    assert all(word in str(refused.value) for word in words.split(" | ")), str(refused.value)


@pytest.mark.parametrize("reason", [Reason.REPETITION, Reason.PLY_LIMIT])
def test_by_a_match_rule_each_player_of_dogon_receives_the_seeds_in_his_own_holes(reason: Reason) -> None:
    position = GAMES["dogon-kulei"].position.parse("4,4,4,4,4,1/4,4,4,4,4,4 w 2 1 - - 0")
    assert position.outcome_by_match_rule(reason) == Outcome(Result.WHITE_WINS, reason, 26, 22)


@pytest.mark.parametrize("index", [-1, 4000, 1 << 64, -(1 << 64)])
@pytest.mark.parametrize("text", [DUALMA, STUCK, f"{MIDDLE} w 31"])
def test_there_is_no_move_at_an_index_out_of_range_however_far(text: str, index: int) -> None:
    with pytest.raises(IndexError, match=str(index)):
        GAMES["dualma"].position.parse(text).move_at(index)


def test_the_first_of_many_placements_is_had_without_the_others() -> None:
    tokens = GAMES["dualma"].position.initial().legal_moves()
    assert [next(tokens), next(tokens)] == ["a1:a2", "a1:a3"]
