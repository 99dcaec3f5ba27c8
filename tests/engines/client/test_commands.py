"""The commands that read, test, watch and organize, against a scripted site."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engines.rules.registry import find_game
from tests.engines.client.conftest import Run
from tests.support.scripted_site import CLOSED, Answer, ScriptedSite, fine, lines, refusal

PAGE = "https://site.example/x/"
BOT = {"bot": "Stone Age", "slug": "stone-age", "newest_version": 3, "owner": "olga", "page": PAGE}
TESTS = "/api/v1/version-tests/"
TOURNAMENTS = "/api/v1/tournaments/"
START = f"{TOURNAMENTS}cup/start/"
EVENT = {"slug": "cup", "name": "Cup", "state": "draft", "page": PAGE}


def versions(active: int = 2) -> Answer:
    rows = [
        {
            "version": number,
            "state": "validating" if number == 3 else "valid",
            "ladders": ["dualma"],
            "active_on": ["dualma"] if number == active else [],
        }
        for number in (1, 2, 3)
    ]
    return fine({"rows": rows, "next": None})


def played(state: str, **more: object) -> Answer:
    figures = {"won": 80, "drawn": 90, "lost": 70, "elo": 3.4, "elo_low": -8.1, "elo_high": 14.9}
    test = {"test": "Stone Age 3 against 2", "elo0": -10.0, "elo1": 0.0, "games": 240, "page": PAGE}
    return fine({**test, **figures, "state": state, **more})


@pytest.fixture(autouse=True)
def bot(site: ScriptedSite) -> None:
    site.give("/api/v1/bots/", fine({"rows": [BOT], "next": None}))
    site.give("/api/v1/bots/stone-age/versions/", versions())
    site.give(TESTS, (201, {"slug": "test-9", "name": "x", "state": "running", "page": PAGE}, {}))


@pytest.mark.parametrize(
    ("state", "code", "answer"),
    [
        ("H1 accepted", 0, "yes"),
        ("H0 accepted", 1, "no"),
        ("undecided", 3, "undecided"),
        ("stopped", 3, "stopped"),
    ],
)
def test_the_exit_code_is_the_answer_of_the_test(
    site: ScriptedSite, run: Run, state: str, code: int, answer: str
) -> None:
    site.give(f"{TESTS}test-9/", played("running"), played(state))
    done = run("test", "Stone Age", "--summary", "report.md")
    assert done.code == code
    told = f"Stone Age 3 against 2: Is it at least not weaker? {answer}. 240 games: 80 won, 90 drawn, 70 lost"
    assert told in done.out + done.err
    (asked,) = site.of(TESTS)
    pair = {"candidate": "stone-age/3", "baseline": "stone-age/2"}
    assert json.loads(asked.body) == {**pair, "ladder": "dualma", "bounds": "no-loss"}
    assert (
        f"| [Stone Age 3 against 2]({PAGE}) | Is it at least not weaker? | {answer} |"
        in Path("report.md").read_text()
    )


@pytest.mark.parametrize(("against", "baseline"), [("active", 1), ("last", 2), ("1", 1)])
def test_the_baseline_is_chosen(site: ScriptedSite, run: Run, against: str, baseline: int) -> None:
    site.give("/api/v1/bots/stone-age/versions/", versions(active=1))
    site.give(f"{TESTS}test-9/", played("H1 accepted"))
    assert run("test", "stone-age@3", "--against", against).code == 0
    assert json.loads(site.of(TESTS)[0].body)["baseline"] == f"stone-age/{baseline}"


def test_a_first_version_has_nothing_to_be_tested_against(site: ScriptedSite, run: Run) -> None:
    done = run("test", "stone-age@1")
    assert (done.code, done.out) == (0, "There is no earlier version to test against on dualma.\n")
    assert site.of(TESTS) == []


def test_a_test_that_takes_too_long_is_left(site: ScriptedSite, run: Run) -> None:
    site.give(f"{TESTS}test-9/", played("running", elo=None))
    done = run("wait", "--test", "test-9", "--timeout", "0.05")
    assert (done.code, done.out) == (3, "")
    assert "running. 240 games" in done.err


def test_json_is_one_object(site: ScriptedSite, run: Run) -> None:
    site.give(f"{TESTS}test-9/", played("H0 accepted"))
    done = run("test", "Stone Age", "--json")
    assert done.code == 1
    assert json.loads(done.out)["tests"][0]["state"] == "H0 accepted"


def test_the_status_has_ratings_and_versions(site: ScriptedSite, run: Run) -> None:
    rating = {"ladder": "dualma", "version": 2, "rating": 31.44, "games": 7, "won": 3, "drawn": 2, "lost": 2}
    site.give("/api/v1/bots/stone-age/ratings/", fine({"rows": [rating], "next": None}))
    done = run("status", "Stone Age", token="")
    assert done.code == 0
    assert done.out.splitlines()[:4] == [
        f"Stone Age of olga: {PAGE}",
        "",
        "ladder  version  rating  games  won  drawn  lost",
        "dualma        2    31.4      7    3      2     2",
    ]


GAME = {
    "id": 7, "ladder": "dualma", "white": "Stone\x1b[2J", "white_version": 2, "black": "Pebble",
    "black_version": 1, "result": "1-0", "termination": "rules", "reason": "three-in-a-row", "plies": 31,
    "finished": "2026-11-29T07:00:00+00:00", "page": PAGE,
}  # fmt: skip


def test_games_are_a_table_and_filters_go_to_the_site(site: ScriptedSite, run: Run) -> None:
    site.give("/api/v1/games/", fine({"rows": [GAME], "next": None}))
    done = run("games", "--bot", "Stone Age", "--min-plies", "30", token="")
    assert done.code == 0
    assert done.out.splitlines()[1].split() == [
        "7", "dualma", r"Stone\x1b[2J", "v2", "Pebble", "v1", "1-0", "31", "three-in-a-row", "2026-11-29",
        "07:00",
    ]  # fmt: skip
    assert [asked.query for asked in site.asked] == ["bot=Stone+Age&min_plies=30&limit=20"]
    assert run("games").out.split()[0] == "duovallis"


def test_records_are_downloaded_part_by_part(site: ScriptedSite, run: Run, tmp_path: Path) -> None:
    following = f'<{site.address}/games/games.pgn?before=5>; rel="next"'
    site.give("/games/games.pgn", fine(b"first\n", Link=following), fine(b"second\n"))
    done = run("download", "records", "--ladder", "dualma", "-o", "games.pgn", token="")
    assert (done.code, done.out) == (0, "games.pgn has 14 bytes\n")
    assert (tmp_path / "games.pgn").read_bytes() == b"first\n\nsecond\n"
    assert [asked.query for asked in site.asked] == ["ladder=dualma", "before=5"]


def test_a_log_is_downloaded_and_nothing_in_it_acts_on_the_terminal(
    site: ScriptedSite, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.give("/api/v1/games/7/log/white/", fine(b"# standard error\noops \x1b[2J\n"))
    assert run("download", "log", "7", "white").out == "# standard error\noops \x1b[2J\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert run("download", "log", "7", "white").out == "# standard error\noops \\x1b[2J\n"
    assert run("download", "log", "7", "white", "-o", "log.txt").out == "log.txt has 27 bytes\n"
    assert run("download", "log", "7", "white", token="").code == 2


def test_a_file_is_replaced_only_by_a_whole_one(site: ScriptedSite, run: Run, tmp_path: Path) -> None:
    (tmp_path / "game.pgn").write_text("old")
    site.give("/games/7.pgn", fine(b"half", Content_Length="500"))
    assert run("download", "record", "7", "-o", "game.pgn").code == 2
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("game.pgn", "old")]


def test_a_game_is_watched_to_its_end(site: ScriptedSite, run: Run) -> None:
    position = find_game("dualma").position.initial()
    move = next(position.legal_moves())
    shown = {"ply": 1, "side": "white", "move": move, "position": str(position.play(move)), "score": 25}
    events = [
        {"id": "a", "type": "game.move", "at": "", "data": shown},
        {"id": "b", "type": "later.type", "at": "", "data": {}},
        {"id": "c", "type": "game.ended", "at": "", "data": GAME},
    ]
    site.give("/api/v1/games/7/", fine({**GAME, "id": 7}))
    site.give("/api/v1/games/7/events/", lines(*events))
    done = run("watch", "7", token="")
    assert done.code == 0
    assert done.out == f"1. white {move} +0.25\nStone\\x1b[2J v2 – Pebble v1: 1-0 three-in-a-row\n"
    assert [json.loads(line)["id"] for line in run("watch", "7", "--json").out.splitlines()] == [
        "a",
        "b",
        "c",
    ]


def test_a_tournament_is_created_from_a_file(site: ScriptedSite, run: Run, tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(
        'name = "Cup"\nkind = "swiss"\nbots = ["stone-age", "pebble"]\nrounds = 5\n'
    )
    value = {"name": "Cup", "kind": "swiss", "bots": ["stone-age", "pebble"], "rounds": 5}
    site.give(TOURNAMENTS, fine({**EVENT, "slug": "", "page": "", "dry_run": True}))
    tried = run("tournament", "create", "cup.toml", "--dry-run", "--start")
    assert (tried.code, tried.out) == (0, "The site would create Cup; nothing is stored.\n")
    site.give(TOURNAMENTS, (201, EVENT, {}))
    site.give(START, fine({**EVENT, "state": "running"}))
    done = run("tournament", "create", "cup.toml", "--start")
    assert (done.code, done.out) == (0, f"Cup is running: {PAGE}\n")
    sent = [json.loads(asked.body) for asked in site.of(TOURNAMENTS)]
    assert sent == [{**value, "dry_run": True}, value]
    site.give(TOURNAMENTS, refusal(400, "rounds: it has two bots."))
    refused = run("tournament", "create", "cup.toml")
    assert (refused.code, refused.out) == (1, "refused: rounds: it has two bots.\n")


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (refusal(409, "Five tournaments are running."), 1),
        (refusal(403, "The token may not."), 2),
        (CLOSED, 2),
    ],
)
def test_a_tournament_that_cannot_be_started_is_told_with_its_address(
    site: ScriptedSite, run: Run, tmp_path: Path, answer: Answer, code: int
) -> None:
    (tmp_path / "cup.json").write_text('{"name": "Cup"}')
    site.give(TOURNAMENTS, (201, EVENT, {}))
    site.give(START, answer)
    done = run("tournament", "create", "cup.json", "--start")
    assert done.code == code
    assert done.out.startswith(f"Cup is draft: {PAGE}\n")
    told = json.loads(run("tournament", "create", "cup.json", "--start", "--json").out)
    assert (told["page"], told["state"], told["code"]) == (PAGE, "draft", code)


def test_tests_that_were_started_are_told_if_another_cannot_be(site: ScriptedSite, run: Run) -> None:
    rows = [{"version": n, "state": "valid", "ladders": ["dualma", "trio"], "active_on": []} for n in (1, 3)]
    site.give("/api/v1/bots/stone-age/versions/", fine({"rows": rows, "next": None}))
    site.give(TESTS, (201, {"slug": "test-9", "page": PAGE}, {}), refusal(422, "A test is running."))
    words = ("test", "Stone Age", "--ladder", "dualma", "--ladder", "trio")
    done = run(*words)
    assert done.code == 2
    assert done.err == f"A test is running.\nThe test of version 3 against 1 goes on: {PAGE}\n"
    site.give(TESTS, (201, {"slug": "test-9", "page": PAGE}, {}), refusal(422, "A test is running."))
    told = json.loads(run(*words, "--json").out)
    assert (told["error"], told["code"]) == ("A test is running.", 2)


def test_a_bot_is_found_by_the_site(site: ScriptedSite, run: Run) -> None:
    site.give("/api/v1/bots/", fine({"rows": [], "next": None}))
    done = run("status", "Übung 9")
    assert (done.code, done.err) == (2, "there is no bot 'Übung 9', or you may not see it\n")
    assert [asked.query for asked in site.asked] == ["called=%C3%9Cbung+9&limit=1"]
