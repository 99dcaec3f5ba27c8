"""Movetext with variations: what is read, what is refused, changes of a tree, and a round trip."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.records import (
    MAX_TREE_MOVES,
    MoveTree,
    Record,
    RecordError,
    TreeMove,
    clean_text,
    compact_tree,
    format_analysis,
    parse_analysis,
    played_headers,
    read_records,
    replay_tree,
)
from engines.records.variations import format_tree
from engines.rules.base import Position
from engines.rules.registry import GAMES

KULEI = GAMES["dogon-kulei"]
TEXT = "1. c1+ {the edge} 1... c2- (1... c2+ 2. f1- (2. b1+) 2... b2+ {! good}) (1... d2+) 2. f1- *\n"
MOVES = (
    TreeMove("c1+", 0, "the edge"),
    TreeMove("c2-", 1),
    TreeMove("c2+", 1),
    TreeMove("f1-", 3),
    TreeMove("b1+", 3),
    TreeMove("b2+", 4, "! good"),
    TreeMove("d2+", 1),
    TreeMove("f1-", 2),
)


def parse_tree(text: str) -> MoveTree:
    return parse_analysis(text)[1]


def test_variations_and_comments_are_read_into_a_tree_and_written_again() -> None:
    tree = parse_tree(TEXT)
    assert tree == MoveTree(MOVES)
    assert format_tree(tree).split() == TEXT.split()
    assert compact_tree(tree) == "c1+ {the edge} c2- (c2+ f1- (b1+) b2+ {! good}) (d2+) f1-"
    assert parse_tree(compact_tree(tree)) == tree
    assert tree.main_line() == [1, 2, 8]
    assert tree.moves_to(6) == ("c1+", "c2+", "f1-", "b2+")


@pytest.mark.parametrize(
    ("text", "compact"),
    [
        ("", ""),
        ("*", ""),
        ("1.c1+! $12 c2-?? ; a remark (\n 2. f1- 1-0", "c1+ $1 $12 c2- $4 {a remark (} f1-"),
        (
            "c1+ ! {x} $2 $1 $0 $ (d1+!? e1+ ?!) ( $3 b1+) b1+!!",
            "c1+ $1 $2 {x} (d1+ $5 e1+ $6) (b1+ $3) b1+ $3",
        ),
        ("c1+ (d1+\n% ) c9\ne1+) c2-", "c1+ (d1+ e1+) c2-"),
        ("{first} c1+ {second} {third} ({before} c2+ *)", "c1+ {first second third} (c2+ {before})"),
        ("c1+ c2- () (c2- f1-)", "c1+ c2- f1-"),
        ("c1+ c2- (c2+ d1+) (c2+ e1+)", "c1+ c2- (c2+ d1+ (e1+))"),
        ("c1+ {a [b] {c\n  d}", "c1+ {a (b) (c d}"),
        ("c1+ * {bye} $1 ; and\n% more", "c1+"),
    ],
)
def test_the_reader_is_tolerant(text: str, compact: str) -> None:
    assert compact_tree(parse_tree(text)) == compact


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("c1+\nc2- (c2+", "line 2: the variation opened in line 2 is never closed"),
        ("c1+\nc2- {never", "line 2: the comment opened in line 2 is never closed"),
        ("c1+ )", "line 1: ')' closes no variation"),
        ("c1+ }", "line 1: '}' closes no comment"),
        ("(c1+)", "line 1: '(' opens a variation before a move"),
        ("c1+ ((c2+))", "line 1: '(' opens a variation before a move"),
        ("(" * 10_000, "line 1: '(' opens a variation before a move"),
        ("c1+ c2- <b>", "line 1: '<b>' is not spelled as a move"),
        ("c1+ " + "x" * 999, "is not spelled as a move"),
        ("c1+ 1-0 c2-", "line 1: 'c2-' follows the result: only one game can be read"),
        ("c1+ 1-0\n(c2-)", "line 2: '(' follows the result: only one game can be read"),
        ("c1+ 1-0\n*", "line 2: '*' follows the result: only one game can be read"),
        ("c1+\n[x] c2-", "line 2: cannot read the header '[x] c2-'"),
        ("c1+ " * (MAX_TREE_MOVES + 1), "there are too many moves"),
    ],
)
def test_an_error_names_the_offending_text_and_its_line(text: str, said: str) -> None:
    with pytest.raises(RecordError, match=re.escape(said)):
        parse_tree(text)


def test_deep_variations_and_huge_numbers_are_read() -> None:
    depth = MAX_TREE_MOVES // 2
    text = "a b " + "(c d " * (depth - 1) + ")" * (depth - 1)
    tree = parse_tree(text)
    assert len(tree.moves) == 2 * depth
    assert parse_tree(format_tree(tree)) == tree
    assert compact_tree(parse_tree("9" * 5000 + ". c1+ " + "9" * 5000)) == "c1+"


def test_a_comment_is_one_line_of_limited_length() -> None:
    tree = MoveTree().play(0, "c1+")[0]
    assert tree.comment(1, "a\x00 }\n" + "b" * 495).moves[0].comment == "a\ufffd ) " + "b" * 495
    with pytest.raises(RecordError, match="the comment has 501 characters: 500 are allowed"):
        tree.comment(1, "b" * 501)


def test_a_move_is_played_once_and_another_one_begins_a_variation() -> None:
    tree, number = parse_tree("c1+ c2- f1-").play(1, "c2+")
    assert (compact_tree(tree), number) == ("c1+ c2- (c2+) f1-", 3)
    assert tree.play(1, "c2-") == (tree, 2)
    full = parse_tree("c1+ " * MAX_TREE_MOVES)
    with pytest.raises(RecordError, match="too many moves"):
        full.play(0, "c2+")


def test_a_variation_becomes_the_main_line() -> None:
    tree, number = parse_tree("c1+ c2- (c2+ d1+ (e1+ a2+)) f1-").promote(5)
    assert compact_tree(tree) == "c1+ c2+ (c2- f1-) e1+ (d1+) a2+"
    assert tree.moves[number - 1].token == "e1+"


def test_a_move_is_deleted_with_all_that_follow() -> None:
    tree, number = parse_tree("c1+ c2- (c2+ d1+ (e1+)) f1-").delete(2)
    assert (compact_tree(tree), number) == ("c1+ c2+ d1+ (e1+)", 1)
    assert parse_tree("c1+ (d1+)").delete(1) == (MoveTree((TreeMove("d1+", 0),)), 0)


def test_an_illegal_move_is_named_with_its_place() -> None:
    start = KULEI.position.initial()
    assert len(replay_tree(MoveTree(MOVES[:2]), start, KULEI.first)) == 3
    with pytest.raises(RecordError, match=r"^1\.\.\. zz in a variation: illegal move 'zz' in position '"):
        replay_tree(parse_tree("c1+ c2- (zz)"), start, KULEI.first)
    with pytest.raises(RecordError, match=r"^2\. c2-: illegal move"):
        replay_tree(parse_tree("c1+ c2- c2-"), start, KULEI.first)


def test_a_record_names_its_game_and_start() -> None:
    start = KULEI.position.initial().play("c1+")
    text = format_analysis(parse_tree("c2- f1- (b1+)"), KULEI, start, "From a club")
    assert text.splitlines() == [
        '[Event "From a club"]',
        '[Site "?"]',
        '[Date "????.??.??"]',
        '[Round "?"]',
        '[White "?"]',
        '[Black "?"]',
        '[Result "*"]',
        '[Game "dogon-kulei"]',
        f'[FEN "{start}"]',
        '[SetUp "1"]',
        "",
        "1... c2- 2. f1- (2. b1+) *",
    ]
    headers, tree = parse_analysis(text)
    assert headers.header("FEN") == str(start)
    assert compact_tree(tree) == "c2- f1- (b1+)"


PLAYED = (("White", 'Stone "Age" \\'), ("Black", "Greedy"), ("Result", "0-1"), ("PlyCount", "2"), ("X", "y"))


def test_a_record_tells_who_played_the_game_and_how_it_ended() -> None:
    text = format_analysis(parse_tree("c1+ (d1+)"), KULEI, KULEI.position.initial(), "", PLAYED)
    assert text.endswith('[PlyCount "1"]\n[X "y"]\n\n1. c1+ (1. d1+) 0-1\n')
    headers, tree = parse_analysis(text)
    assert played_headers(headers) == (*PLAYED[:3], ("PlyCount", "1"), ("X", "y"))
    assert format_analysis(tree, KULEI, KULEI.position.initial(), "", played_headers(headers)) == text
    assert '[Event "Mine"]' in format_analysis(tree, KULEI, KULEI.position.initial(), "Mine", PLAYED)


@pytest.mark.parametrize(
    ("text", "played"),
    [
        (format_analysis(MoveTree(MOVES), KULEI, KULEI.position.initial(), "A title"), ()),
        ("c1+ *", ()),
        ("c1+ 1-0", (("Result", "1-0"),)),
        ('[Result "won"]\n[FEN "?"]\n\nc1+ 1/2-1/2', (("Result", "1/2-1/2"),)),
        ('[White "?"]\n[Black "Greedy"]\n[Result "0-1"]\n\n*', (("Black", "Greedy"), ("Result", "0-1"))),
    ],
)
def test_what_is_unknown_of_a_game_is_not_among_its_headers(
    text: str, played: tuple[tuple[str, str], ...]
) -> None:
    assert played_headers(parse_analysis(text)[0]) == played


def test_headers_may_be_indented() -> None:
    headers, tree = parse_analysis('[Event "x"]\n  [Site "y"]\n\t[Game "dogon-kulei"]\n\n1. c1+ *')
    assert (headers.header("Site"), headers.header("Game")) == ("y", "dogon-kulei")
    assert compact_tree(tree) == "c1+"


@pytest.mark.parametrize(
    "before", ["{a\ncomment}\n", "; a line\n", "% an escape\n", '[Site "a\nb"]\n', '{a}\n[Site "x"]\n; b\n']
)
def test_comments_and_escapes_before_headers_and_among_moves_are_read_as_by_the_reader(before: str) -> None:
    text = before + '[Game "dogon-kulei"]\n\n{first} c1+\n% c9\nc2- ; c8\n*\n'
    headers, tree = parse_analysis(text)
    (record,) = read_records(text.splitlines(), "file")
    assert isinstance(record, Record)
    assert headers.headers == record.headers
    assert tree.moves_to(len(tree.moves)) == tuple(move.token for move in record.moves) == ("c1+", "c2-")
    assert tree.moves[0].comment == "first"


def test_a_variation_with_a_null_move_is_left_out_from_there_and_a_cut_comment_is_told() -> None:
    tree = parse_tree("c1+ (d1+ -- {x} e1+ (f1+) a1+) (--) c2- (c2+) {" + "b" * 501 + "} *")
    assert [move.token for move in tree.moves] == ["c1+", "d1+", "c2-", "c2+"]
    assert tree.losses == (
        "Variations with a null move, from that move on: 2 left out.",
        "Comments of more than 500 characters: 1 cut.",
    )
    with pytest.raises(RecordError, match="not spelled as a move"):
        parse_tree("c1+ -- c2-")


@pytest.mark.parametrize("other", ["d1+ *\n", "c9 {never closed", "zz <b> ) (", "*\n\n[Event]\n\n*"])
@pytest.mark.parametrize("end", ["", " *"])
def test_of_several_games_the_first_is_read(other: str, end: str) -> None:
    text = f'[Game "dogon-kulei"]\n\nc1+ c2-{end}\n\n{{a comment}}\n[Game "dogon-kulei"]\n\n{other}'
    tree = parse_tree(text if end else text.replace("{a comment}\n", ""))
    assert (compact_tree(tree), tree.losses) == ("c1+ c2-", ("Only the first game was read.",))
    with pytest.raises(RecordError, match="follows the result"):
        parse_analysis("c1+ * d1+")


def test_comments_that_belong_to_no_move_are_told() -> None:
    for text in ("{only a comment}", "c1+ c2- ({nothing} $1) f1-", '{before}\n[Game "dualma"]\n\n*'):
        assert parse_tree(text).losses == ("Comments that belong to no move: 1 left out.",)


def test_errors_count_lines_from_the_first_header() -> None:
    with pytest.raises(RecordError, match=r"^line 3: '<b>' is not"):
        parse_analysis('[Game "dogon-kulei"]\n\n<b> *')
    with pytest.raises(RecordError, match="line 1: cannot read the header"):
        parse_analysis("[Game]\n\nc1+ *")


COMMENTS = st.one_of(st.just(""), st.text(max_size=90), st.just('[Event "x"]'))
GLYPHS = st.lists(st.integers(1, 255).map("${}".format), max_size=3, unique=True).map(tuple)
HEADER_TEXTS = st.text(max_size=30).map(clean_text)


@st.composite
def trees(draw: st.DrawFn, start: Position) -> MoveTree:
    """Random legal moves, each after a random one of those before, with comments and glyphs."""
    tree = MoveTree()
    for choice in draw(st.lists(st.tuples(st.integers(0), st.integers(0), COMMENTS, GLYPHS), max_size=25)):
        number = choice[0] % (len(tree.moves) + 1)
        position = replay_tree(tree, start, KULEI.first)[number]
        if count := position.count_moves():
            tree, number = tree.play(number, position.move_at(choice[1] % count))
            tree = tree.comment(number, choice[2])
            move = replace(tree.moves[number - 1], glyphs=choice[3])
            tree = replace(tree, moves=(*tree.moves[: number - 1], move, *tree.moves[number:]))
    return tree


@pytest.mark.parametrize("code", GAMES)
@given(data=st.data())
def test_a_tree_of_legal_moves_is_the_same_after_writing_and_reading(code: str, data: st.DataObject) -> None:
    game = GAMES[code]
    start = game.position.initial()
    tree = data.draw(trees(start))
    played = tuple(data.draw(st.dictionaries(st.sampled_from(["White", "Black", "X"]), HEADER_TEXTS)).items())
    text = format_analysis(tree, game, start, "", played)
    headers, read = parse_analysis(text)
    assert read == tree
    assert format_analysis(read, game, start, "", played_headers(headers)) == text
    assert parse_tree(compact_tree(tree)) == tree
    record, *rest = read_records(text.splitlines(), "analysis.pgn")
    assert isinstance(record, Record)
    assert rest == []
    tokens = tuple(move.token for move in record.moves)
    assert tokens == tuple(tree.moves[number - 1].token for number in tree.main_line())
    for number in range(1, len(tree.moves) + 1):
        promoted, at = tree.promote(number)
        assert at in promoted.main_line()
        assert promoted.moves_to(at) == tree.moves_to(number)
        assert parse_tree(compact_tree(promoted)) == promoted
