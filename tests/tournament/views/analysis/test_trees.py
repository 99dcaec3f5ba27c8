"""The tree of the analysis board: what a form changes, import and export, limits, and links from games."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.test import Client
from django.utils.html import escape

from engines.records import Record, clean_text, read_records
from engines.rules.registry import GAMES
from tests.support.filled_site import LogIn, Site
from tournament.views.analysis.trees import MAX_ADDRESS, MAX_TEXT, analysis_query

pytestmark = pytest.mark.django_db

PAGE = "/analyse/dogon-kulei/"
TREE = "c1+ c2- (c2+ {why not?} d1+) d1+"
FIRST = GAMES["dogon-kulei"].position.initial().play("c1+")
PART = {"X-Part": "true"}


def asked(client: Client, **values: str) -> dict[str, str]:
    """The query of the page to which the form leads."""
    answer = client.post(PAGE, values)
    assert answer.status_code == 302, answer.content.decode()
    return {name: value for name, (value,) in parse_qs(urlsplit(answer["Location"]).query).items()}


def message(client: Client, **values: str) -> str:
    """The sentence about a form that is refused; a script gets nothing else."""
    answer = client.post(PAGE, values)
    assert answer.status_code == 400
    found = re.search(r'role="alert">([^<]*)<', answer.content.decode())
    assert found
    part = client.post(PAGE, values, headers=PART)
    assert part.status_code == 400
    return part.content.decode()


def test_an_import_says_what_was_left_out(client: Client) -> None:
    form = {"action": "import", "record": "c1+ (--) c2-"}
    assert "null move" in client.post(PAGE, form, headers=PART).content.decode()
    assert "null move" in client.post(PAGE, form, follow=True).content.decode()


def test_the_page_shows_the_tree_and_the_position_of_a_move(client: Client) -> None:
    page = client.get(f"{PAGE}?{urlencode({'moves': TREE, 'at': '3'})}").content.decode()
    shown = 'data-before="1" aria-current="true">c2+<'
    assert f'<small>1... </small><button name="go" value="3" {shown}' in page
    assert "<bdi>why not?</bdi>" in page
    assert str(GAMES["dogon-kulei"].position.initial().play("c1+").play("c2+")) in page
    assert page.count('class="deep deep-1"') == 1


@pytest.mark.parametrize(
    ("form", "moves", "at"),
    [
        ({"at": "1", "play": "d2+"}, "c1+ c2- (c2+ {why not?} d1+) (d2+) d1+", "5"),
        ({"at": "1", "play": "c2+"}, TREE, "3"),
        ({"at": "1", "go": "4"}, TREE, "4"),
        ({"at": "3", "action": "delete"}, "c1+ c2- d1+", "1"),
        ({"at": "4", "action": "promote"}, "c1+ c2+ {why not?} (c2- d1+) d1+", "5"),
        ({"at": "1", "comment": "first\nmove }"}, "c1+ {first move )} c2- (c2+ {why not?} d1+) d1+", "1"),
        ({"at": "3", "comment": "", "go": "0"}, "c1+ c2- (c2+ d1+) d1+", "0"),
        ({"at": "99999", "action": "delete"}, "c1+ c2- (c2+ {why not?} d1+)", "2"),
    ],
)
def test_a_form_changes_the_tree(client: Client, form: dict[str, str], moves: str, at: str) -> None:
    assert asked(client, moves=TREE, **form) == {"moves": moves, "at": at}


def test_a_script_gets_the_list_of_moves_alone(client: Client) -> None:
    part = client.post(PAGE, {"moves": TREE, "at": "1", "play": "d2+"}, headers=PART).content.decode()
    assert part.lstrip().startswith('<div id="tree" data-address="moves=c1%2B+c2-')
    assert 'name="at" value="5"' in part
    assert "<html" not in part


def test_comments_and_moves_are_escaped(client: Client) -> None:
    query = urlencode({"moves": "c1+ {<script>alert(1)</script>}", "position": ""})
    page = client.get(f"{PAGE}?{query}").content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"moves": "(" * 10_000}, "Line 1: '(' opens a variation before a move that it could replace."),
        ({"moves": "c1+ " + "(c2- " * 10_000}, "Line 1: the variation opened in line 1 is never closed."),
        ({"moves": "x" * (MAX_TEXT + 1)}, "The text has 100,001 characters; 100,000 are allowed."),
        ({"moves": "c1+ c2- (zz)"}, "1... zz in a variation: illegal move 'zz' in position"),
        ({"moves": "c1+ {never"}, "Line 1: the comment opened in line 1 is never closed."),
        ({"moves": "c1+ <b>"}, "Line 1: '<b>' is not spelled as a move."),
        ({"moves": "\x00"}, "is not spelled as a move"),
        ({"moves": "c1+", "play": "zz"}, "1... zz: illegal move 'zz' in position"),
        ({"moves": "c1+", "play": "c2- f1-"}, "'c2- f1-' is not spelled as a move."),
        ({"moves": "c1+", "play": "x" * 400_000}, "is not spelled as a move."),
        ({"moves": "c1+", "position": "\x00/"}, "osition"),
        ({"action": "import", "record": " "}, "There is nothing to import"),
        ({"action": "import", "record": "4,4/4 w"}, "osition"),
        ({"action": "import", "record": '[Game "chess"]\n\ne4 *'}, "Unknown game 'chess'"),
        ({"action": "import", "record": '[Game "dogon-kulei"]\n[RulesVersion "9"]'}, "version '9' of"),
        ({"action": "import", "record": '[Game "dogon-kulei"]\n\nc1+ * c2- *'}, "only one game can be read"),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_is_refused_with_a_sentence(
    client: Client, form: dict[str, str], said: str
) -> None:
    assert said in message(client, **form)


@pytest.mark.parametrize("at", ["-1", "9" * 5000, "x", "\x00", "4.5"])
def test_a_wrong_number_of_a_move_is_the_end_of_the_main_line(client: Client, at: str) -> None:
    answer = client.get(f"{PAGE}?{urlencode({'moves': TREE, 'at': at})}")
    assert answer.context["shown"].at == 5


def test_an_exported_record_is_imported_to_the_same_tree(client: Client) -> None:
    start = str(FIRST)
    moves = "c2- {a comment} f1- (d1+) b2+"
    form = {"position": start, "moves": moves, "at": "1"}
    answer = client.post(PAGE, {**form, "action": "download"})
    assert 'filename="analysis-dogon-kulei.pgn"' in answer["Content-Disposition"]
    text = answer.content.decode()
    record = next(read_records(text.splitlines(), "analysis.pgn"))
    assert isinstance(record, Record)
    assert [move.token for move in record.moves] == ["c2-", "f1-", "b2+"]
    found = asked(client, action="import", record=text)
    assert (found["position"], found["moves"]) == (start, moves)


def test_a_record_of_another_ladder_opens_there(client: Client) -> None:
    answer = client.post(PAGE, {"action": "import", "record": '[Game "dualma"]\n\n1. d4:f6 *'})
    assert answer["Location"] == "/analyse/dualma/?moves=d4%3Af6&at=1"


def test_moves_and_positions_are_imported(client: Client) -> None:
    assert asked(client, action="import", record=f" {FIRST}\n") == {"position": str(FIRST), "at": "0"}
    moves = asked(client, position=str(FIRST), action="import", record="1... c2- 2. f1-")
    assert moves == {"position": str(FIRST), "moves": "c2- f1-", "at": "2"}


def test_a_tree_too_long_for_an_address_is_shown_with_advice(
    client: Client, site: Site, as_user: LogIn
) -> None:
    replies = " ".join(f"({token} {{{'x' * 500}}})" for token in FIRST.legal_moves())
    form = {"moves": f"c1+ {{{'x' * 500}}} c2- {{{'x' * 500}}} {replies}"}
    answer = client.post(PAGE, form)
    assert answer.status_code == 200
    assert "saving needs an account" in answer.content.decode()
    assert "Save it" in as_user(site.owner).post(PAGE, form).content.decode()
    part = client.post(PAGE, form, headers=PART).content.decode()
    assert '<div id="tree">' in part


def test_a_game_opens_on_the_board_at_the_ply_that_is_shown(client: Client, site: Site) -> None:
    page = client.get(f"/games/{site.played.pk}/?ply=3").content.decode()
    (address,) = re.findall(r'href="(/analyse/[^"]*)">Analyse<', page)
    board = client.get(address.replace("&amp;", "&"))
    assert board.context["shown"].at == 3
    record = client.get(f"/games/{site.played.pk}.pgn").content.decode()
    assert "nodes" not in board.context["shown"].moves
    played = dict(board.context["shown"].played)
    white, black = site.played.white.bot.name, clean_text(site.played.black.bot.name)
    assert (played["White"], played["Black"], played["Result"]) == (white, black, site.played.result)
    assert (played["Event"], played["GameId"]) == (site.played.tournament.name, site.played.key)
    imported = asked(client, action="import", record=record)
    assert board.context["shown"].moves == imported["moves"]
    players = escape(f"{white} – {black} {site.played.result}")
    assert f"<bdi>{players}</bdi>" in board.content.decode()


def test_the_link_of_a_long_game_has_no_notes_and_of_a_very_long_one_the_position_alone() -> None:
    positions = [GAMES["dogon-kulei"].position.initial()] * (MAX_ADDRESS + 1)
    notes, played = ["+0.35/12"] * 300, (("White", "Greedy"),)
    noted = parse_qs(analysis_query("", ["c1+"] * 9, positions, 7, notes=notes[:9], played=played))
    assert noted == {
        "headers": ['[White "Greedy"]\n'], "moves": [" ".join(["c1+ {+0.35/12}"] * 9)], "at": ["7"],
    }  # fmt: skip
    long = parse_qs(analysis_query("", ["c1+"] * 300, positions, 7, notes=notes, played=played))
    assert long == {"headers": ['[White "Greedy"]\n'], "moves": [" ".join(["c1+"] * 300)], "at": ["7"]}
    query = analysis_query("", ["c1+"] * MAX_ADDRESS, positions, 7)
    assert query == urlencode({"position": str(positions[7])})
    assert analysis_query("", [], positions[:1], 0) == ""


def test_of_the_notes_of_engines_scores_and_depths_are_imported_and_the_rest_is_told(client: Client) -> None:
    text = "1. c1+ {book} c2- {+0.35/12 0.500s 1234n pv f1-} 2. f1- {0.100s} 2... b2+ {a good move} *"
    moves = "c1+ {book} c2- {+0.35/12} f1- b2+ {a good move}"
    form = {"action": "import", "record": text}
    assert asked(client, **form)["moves"] == moves
    assert "only scores and depths" in client.post(PAGE, form, follow=True).content.decode()
    again = client.post(PAGE, {"action": "import", "record": moves}, follow=True)
    assert "only scores and depths" not in again.content.decode()


def test_glyphs_are_imported_shown_and_downloaded(client: Client) -> None:
    found = asked(client, action="import", record="c1+!? $14 {why} c2- (c2+??) *")
    assert found["moves"] == "c1+ $5 $14 {why} c2- (c2+ $4)"
    page = client.get(f"{PAGE}?{urlencode(found)}").content.decode()
    assert ">c1+</button>!? $14 <bdi>why</bdi>" in page
    assert ">c2+</button>??<" in page
    text = client.post(PAGE, {**found, "action": "download"}).content.decode()
    assert text.endswith("\n1. c1+ $5 $14 {why} 1... c2- (1... c2+ $4) *\n")
    assert asked(client, action="import", record=text)["moves"] == found["moves"]


def test_the_record_of_a_game_is_downloaded_with_its_headers_after_changes(
    client: Client, site: Site
) -> None:
    record = client.get(f"/games/{site.played.pk}.pgn").content.decode()
    found = asked(client, action="import", record=record)
    changed = asked(client, **{**found, "at": "1", "play": "c2+"})
    assert changed["headers"] == found["headers"]
    text = client.post(PAGE, {**found, "action": "download"}).content.decode()
    (downloaded,), (original,) = (list(read_records(one.splitlines(), "x")) for one in (text, record))
    assert isinstance(downloaded, Record)
    assert isinstance(original, Record)
    assert downloaded.headers == tuple((name, clean_text(value)) for name, value in original.headers)
    assert downloaded.result == original.result
    assert [(move.token, move.book) for move in downloaded.moves] == [
        (move.token, move.book) for move in original.moves
    ]
    assert [move.note and move.note.score for move in downloaded.moves] == [
        move.note and move.note.score for move in original.moves
    ]
    assert asked(client, action="import", record=text) == found


def test_a_comment_that_is_too_long_is_refused_and_stays_in_its_field(client: Client) -> None:
    form = {"moves": TREE, "at": "1", "comment": "x" * 501}
    assert message(client, **form) == "The comment has 501 characters: 500 are allowed."
    page = client.post(PAGE, form).content.decode()
    assert f">{'x' * 501}</textarea>" in page
    assert "maxlength" not in page
    assert asked(client, **{**form, "comment": "x" * 500})["moves"].count("x") == 500


def test_a_line_of_a_book_is_imported(client: Client) -> None:
    text = "5,5,5,5,0,5/5,4,4,0,5,5 w 0 0 - - 2 moves f1+"
    answer = client.post("/analyse/dogon-kulei/", {"action": "import", "record": text})
    assert "moves=f1%2B" in answer["Location"]


def test_a_line_that_is_too_long_is_refused(client: Client) -> None:
    answer = client.post("/analyse/dogon-kulei/", {"moves": " ".join(["c1+"] * 1001)})
    assert answer.status_code == 400
    assert "more than 1,000 moves" in answer.content.decode()
