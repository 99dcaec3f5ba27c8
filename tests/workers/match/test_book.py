"""Openings drawn, and openings from files."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from engines.book import BookStart, parse_start
from engines.rules.base import RulesError
from engines.rules.history import History
from engines.rules.registry import find_game
from tests.support.matches import terms_of
from workers.match import book
from workers.match.book import Book, make_books
from workers.match.options.options import MatchOptionError, Openings, Order

KULEI = find_game("dogon-kulei")
BOOK = """# comments and empty lines are passed over
d1+ d2+

5,5,5,5,0,5/5,4,4,0,5,5 w 0 0 - - 2
5,5,5,5,0,5/5,4,4,0,5,5 w 0 0 - - 2 moves f1+
f1+
"""
LINES = [
    BookStart(moves=("d1+", "d2+")),
    BookStart("5,5,5,5,0,5/5,4,4,0,5,5 w 0 0 - - 2"),
    BookStart("5,5,5,5,0,5/5,4,4,0,5,5 w 0 0 - - 2", ("f1+",)),
    BookStart(moves=("f1+",)),
]


def book_of(path: Path, text: str = BOOK, seed: int = 0, **more: object) -> Book:
    path = path / "book.txt"
    path.write_text(text)
    openings = Openings(file=path, **more)  # type: ignore[arg-type]
    return make_books(terms_of(openings=openings, seed=seed))["dogon-kulei"]


def test_a_file_is_read_from_the_chosen_line_and_then_from_its_start(tmp_path: Path) -> None:
    assert [book_of(tmp_path).start(n) for n in range(6)] == [*LINES, *LINES[:2]]
    assert [book_of(tmp_path, start=3).start(n) for n in range(3)] == [LINES[2], LINES[3], LINES[0]]


def test_a_shuffled_file_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    orders = [
        [book_of(tmp_path, seed=seed, order=Order.RANDOM).start(n) for n in range(4)] for seed in (1, 1, 2, 3)
    ]
    assert orders[0] == orders[1]
    assert len({tuple(order) for order in orders}) > 1
    assert all(set(order) == set(LINES) for order in orders)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("d1+\nd1+ d1+\n", "book.txt, line 2, for dogon-kulei: illegal move 'd1[+]'"),
        ("rnbqkbnr/8\n", "book.txt, line 1, for dogon-kulei: "),
        ("d1+\n[chess]\n", "book.txt, line 2: unknown game 'chess'"),
        ("", "book.txt has no openings of dogon-kulei"),
        ("[dualma]\na1:a2\n", "book.txt has no openings of dogon-kulei"),
    ],
)
def test_a_line_that_cannot_be_played_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(MatchOptionError, match=complaint):
        book_of(tmp_path, text)


def test_ladders_have_their_own_part_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text(
        "[dogon-kulei]\nd1+\n[ dualma ]\na1:a2\na1:a3\n\n# more of the first\n[dogon-kulei]\nf1+\n"
    )
    ladders = ("dogon-kulei", "dualma")
    books = make_books(replace(terms_of(openings=Openings(file=path)), ladders=ladders))
    assert [books["dogon-kulei"].start(n).moves for n in range(3)] == [("d1+",), ("f1+",), ("d1+",)]
    assert [books["dualma"].start(n).moves for n in range(3)] == [("a1:a2",), ("a1:a3",), ("a1:a2",)]


def test_openings_above_the_first_ladder_are_for_all_ladders(tmp_path: Path) -> None:
    kulei = book_of(tmp_path, "d1+\n[dogon-kulei]\nf1+\n[dualma]\na1:a2\n")
    assert [kulei.start(n).moves for n in range(2)] == [("d1+",), ("f1+",)]


def test_a_start_beyond_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MatchOptionError, match=r"start=5: .*book\.txt has 4 openings"):
        book_of(tmp_path, start=5)


def test_an_opening_that_leaves_nothing_to_play_is_refused() -> None:
    game = find_game("duploline")
    history = History(game)
    while not history.outcome.decided:
        history.play(next(history.position.legal_moves()))
    with pytest.raises(RulesError, match="the game is over after"):
        parse_start(game, " ".join(history.moves))


def test_openings_that_the_ply_limit_ends_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MatchOptionError, match="-plylimit 4: the game is over after -openings random:4"):
        make_books(terms_of(openings=Openings(plies=4), ply_limit=4))
    (tmp_path / "book.txt").write_text("d1+ d2+\n")
    for limit in (1, 2):
        with pytest.raises(MatchOptionError, match=r"book\.txt, line 1, .*the game is over"):
            make_books(terms_of(openings=Openings(file=tmp_path / "book.txt"), ply_limit=limit))


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    assert book_of(tmp_path, "\ufeffd1+ d2+\n").start(0) == BookStart(moves=("d1+", "d2+"))


def test_a_file_that_is_no_text_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_bytes(b"\x7fELF\xff\xfe")
    with pytest.raises(MatchOptionError, match="it is not a text file with one opening a line"):
        make_books(terms_of(openings=Openings(file=tmp_path / "book.txt")))


def test_drawn_openings_do_not_depend_on_what_was_asked_for_first() -> None:
    terms = terms_of(openings=Openings(plies=4), seed=3)
    one, two = make_books(terms)["dogon-kulei"], make_books(terms)["dogon-kulei"]
    assert [one.start(n) for n in (5, 0, 3)] == [two.start(n) for n in (5, 0, 3)]
    assert one.start(0) != one.start(1)


def test_openings_given_up_long_ago_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "KEPT_OPENINGS", 3)
    terms = terms_of(openings=Openings(plies=4), seed=3)
    long_ago = make_books(terms)["dogon-kulei"]
    expected = [long_ago.start(number) for number in range(10)]
    assert [long_ago.start(number) for number in (0, 9, 7, 4)] == [expected[n] for n in (0, 9, 7, 4)]


def test_openings_longer_than_any_game_are_refused() -> None:
    with pytest.raises(MatchOptionError, match=r"random:300: .* no random game of Dogon kulei"):
        make_books(terms_of(openings=Openings(plies=300)))


GAMES_OF_A_BOOK = """[Event "?"]
[Game "dogon-kulei"]

1. d1+ d2+ 2. f1+ *

[Event "?"]
[Game "dualma"]

1. a1:a2 *

[Event "?"]
[Game "dogon-kulei"]

1. d1+ {book} d2+ 2. e1- 1-0

[Event "?"]
[Game "dogon-kulei"]

1. d1+ *

[Event "?"]
[Game "dogon-kulei"]

1. f1+ f2- *
"""


def test_recorded_games_are_a_book_of_their_first_plies(tmp_path: Path) -> None:
    """Each opening once; shorter games and other ladders are left out."""
    path = tmp_path / "games.pgn"
    path.write_text(GAMES_OF_A_BOOK)
    found = make_books(terms_of(openings=Openings(plies=2, file=path)))["dogon-kulei"]
    assert [found.start(n).moves for n in range(3)] == [("d1+", "d2+"), ("f1+", "f2-"), ("d1+", "d2+")]


@pytest.mark.parametrize(
    ("text", "plies", "complaint"),
    [
        (GAMES_OF_A_BOOK, 0, r"games\.pgn: these are games: plies=N says how many plies"),
        ('[Game "dogon-kulei"]\n\nf1+ f1+ *', 2, r"games\.pgn:1: game 1: .*illegal.* no other openings of"),
        ('[Game "dogon-kulei"]\n\nf1+ , *', 2, r"games\.pgn:3: game 1: .*',' is not spelled.*no other"),
        (GAMES_OF_A_BOOK, 9, r"games\.pgn has no openings of dogon-kulei"),
    ],
)
def test_a_book_of_games_that_cannot_be_used_is_named(
    tmp_path: Path, text: str, plies: int, complaint: str
) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(text)
    with pytest.raises(MatchOptionError, match=complaint):
        make_books(terms_of(openings=Openings(plies=plies, file=path)))


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("f1+ f1+ *", r"games\.pgn:21: game 5: illegal move 'f1\+'.*\n"),
        ("f1+ , *", r"games\.pgn:24: game 5: ply 2: ',' is not spelled as a move .*\n"),
    ],
)
def test_a_bad_game_of_a_book_is_named_once_and_the_others_are_used(
    tmp_path: Path, bad: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(GAMES_OF_A_BOOK.replace("f1+ f2- *", bad) + '\n[Game "dogon-kulei"]\n\nc1+ c2- *\n')
    found = make_books(terms_of(openings=Openings(plies=2, file=path)))["dogon-kulei"]
    assert [found.start(n).moves for n in range(3)] == [("d1+", "d2+"), ("c1+", "c2-"), ("d1+", "d2+")]
    error = capsys.readouterr().err
    assert re.fullmatch(rf"warning: -openings: left out: \S*{said}", error)


def test_of_many_bad_games_the_first_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "games.pgn"
    path.write_text('[Game "dogon-kulei"]\n\n, *\n\n' * 15 + GAMES_OF_A_BOOK)
    make_books(terms_of(openings=Openings(plies=2, file=path)))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == book.MAX_WARNINGS + 1
    assert lines[-1] == "warning: -openings: left out: 5 more games"


def test_openings_of_a_file_are_shortened(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text("d1+ d2+ f1+\nd1+ d2+ e1-\nf1+\n")
    found = make_books(terms_of(openings=Openings(plies=2, file=path)))["dogon-kulei"]
    assert [found.start(n).moves for n in range(3)] == [("d1+", "d2+"), ("f1+",), ("d1+", "d2+")]


@pytest.mark.parametrize(
    "before", ["; a remark\n", "{ a comment\nof two lines }\n", "% 1\n", '[A:b "c"]\n', "\ufeff"]
)
def test_a_book_of_games_may_begin_with_remarks(tmp_path: Path, before: str) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(before + GAMES_OF_A_BOOK)
    found = make_books(terms_of(openings=Openings(plies=2, file=path)))["dogon-kulei"]
    assert found.start(0).moves == ("d1+", "d2+")
