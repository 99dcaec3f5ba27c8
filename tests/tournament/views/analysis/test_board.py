"""The analysis board: positions for scripts, the page without scripts, and lines that are refused."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from django.test import Client

from engines.rules.registry import GAMES
from tournament.views.analysis.trees import MAX_MOVES

pytestmark = pytest.mark.django_db

STUCK = "5/6/7/8/wb,1,wb,1,wb,1,wb,2/8/wb,1,wb,1,wb,1,wb/6/wb,1,wb,1,wb w 21"


@pytest.mark.parametrize("code", GAMES)
def test_a_script_gets_the_position_after_the_moves_of_the_game_s_picture(client: Client, code: str) -> None:
    game = GAMES[code]
    answer = client.get(f"/analyse/{code}/position.json?{urlencode({'moves': game.picture})}")
    values, position = answer.json(), game.pictured()
    assert values["position"] == str(position)
    assert [one.partition("/")[2] for one in values["moves"].split()] == list(position.legal_moves())
    assert values["side"] == position.side.name.lower()
    assert {f'data-cell="{cell}"' in values["board"] for cell in position.board()} == {True}
    assert "max-age=3600" in answer["Cache-Control"]


def test_a_line_may_begin_at_any_position(client: Client) -> None:
    query = urlencode({"position": STUCK, "moves": "pass"})
    values = client.get(f"/analyse/dualma/position.json?{query}").json()
    assert values["ply"] == 22


def test_a_game_that_is_over_has_no_moves_and_its_end(client: Client) -> None:
    query = urlencode({"position": "0,1,0,0,0,0/0,0,1,0,0,0 b 23 23 - - 1"})
    values = client.get(f"/analyse/dogon-kulei/position.json?{query}").json()
    assert (values["moves"], values["result"]) == ("", "1/2-1/2")
    assert values["ending"] == "both players would have had to pass"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"moves": "c1+ zz"}, "Illegal move 'zz'"),
        ({"position": "nonsense"}, "osition"),
        ({"moves": "c1+ " * (MAX_MOVES + 1)}, "too many"),
    ],
)
def test_a_line_that_cannot_be_played_is_refused_with_its_reason(
    client: Client, query: dict[str, str], said: str
) -> None:
    answer = client.get(f"/analyse/dogon-kulei/position.json?{urlencode(query)}")
    assert answer.status_code == 400
    assert said in answer.json()["error"]
    page = client.get(f"/analyse/dogon-kulei/?{urlencode(query)}")
    assert page.status_code == 400
    assert 'role="alert"' in page.content.decode()
    assert client.get("/analyse/chess/").status_code == 404


def test_without_scripts_each_legal_move_is_a_button_of_the_form(client: Client) -> None:
    page = client.get("/analyse/dogon-kulei/?moves=c1%2B").content.decode()
    assert '<button name="play" value="c2-">c2-</button>' in page
    assert "csrfmiddlewaretoken" not in page
    answer = client.post("/analyse/dogon-kulei/", {"moves": "c1+", "at": "1", "play": ["", "c2-"]})
    assert answer["Location"] == "/analyse/dogon-kulei/?moves=c1%2B+c2-&at=2"
    page = client.get(answer["Location"]).content.decode()
    assert str(GAMES["dogon-kulei"].position.initial().play("c1+").play("c2-")) in page
