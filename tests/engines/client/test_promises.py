"""What the guide promises of all commands that ask a site: JSON that parses, and the exit codes."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.__main__ import _build_parser
from engines.client import exit_codes
from engines.console import INTERRUPTED
from tests.engines.client.conftest import Run
from tests.support.documents import read
from tests.support.scripted_site import Answer, ScriptedSite, fine, lines, refusal

PAGE = "https://site.example/x/\x1b[2J"
BOT = {"bot": "Stone Age", "slug": "stone-age", "newest_version": 2, "page": PAGE}
VERSION = {"bot": "Stone Age", "slug": "stone-age", "number": 2, "state": "valid", "reason": "", "page": PAGE}
TEST = {
    "test": "9", "slug": "9", "state": "H1 accepted", "games": 4, "won": 2, "drawn": 1, "lost": 1,
    "elo": None, "elo0": -10.0, "elo1": 0.0, "page": PAGE,
}  # fmt: skip
EVENT = {"slug": "cup", "name": "Cup", "state": "draft", "page": PAGE}
ROWS = [{"version": n, "state": "valid", "ladders": ["dualma"], "active_on": []} for n in (1, 2)]
RATING = {"ladder": "dualma", "version": 2}
ENDED = {"id": "a", "type": "game.ended", "at": "", "data": {"white": "x\u202e"}}
UPLOAD, VALIDATION = "/api/v1/bots/", "/api/v1/bots/stone-age/2/validation/"


def rows(*values: object) -> Answer:
    return fine({"rows": list(values), "next": None})


ANSWERS = {
    "/api/v1/token/": fine({"scopes": ["bots:upload", "tests:write"]}),
    UPLOAD: fine({**VERSION, "rows": [BOT], "next": None}),
    VALIDATION: fine(VERSION),
    "/api/v1/bots/stone-age/versions/": rows(*ROWS),
    "/api/v1/bots/stone-age/ratings/": rows(RATING),
    "/api/v1/version-tests/": fine(TEST),
    "/api/v1/version-tests/9/": fine(TEST),
    "/api/v1/games/": rows({"id": 7}, {"id": 8}),
    "/api/v1/games/7/": fine({"ladder": "dualma"}),
    "/api/v1/games/7/events/": lines(ENDED),
    "/api/v1/games/7/log/white/": fine(b"oops\n"),
    "/games/7.pgn": fine(b"[Game]\n"),
    "/games/games.pgn": fine(b"[Game]\n"),
    "/api/v1/tournaments/": fine(EVENT),
}
COMMANDS = {
    "submit": "submit bot.zip --test not-weaker",
    "status": "status Stone-Age@2",
    "wait": "wait --test 9",
    "test": "test Stone-Age",
    "games": "games --bot Stone-Age",
    "watch": "watch 7",
    "download record": "download record 7",
    "download records": "download records -o games.pgn",
    "download log": "download log 7 white",
    "tournament create": "tournament create cup.json",
}
"""Every command with ``--json``, and how it is run."""


@pytest.fixture(autouse=True)
def answers(site: ScriptedSite, run: Run, tmp_path: Path) -> None:
    for path, answer in ANSWERS.items():
        site.give(path, answer)
    (tmp_path / "bot.zip").write_bytes(b"zip")
    (tmp_path / "cup.json").write_text('{"name": "Cup"}')


def commands_of(parser: argparse.ArgumentParser, before: str = "") -> Iterator[str]:
    """The commands with ``--json``."""
    if "--json" in parser._option_string_actions:
        yield before.strip()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, one in action.choices.items():
                yield from commands_of(one, f"{before} {name}")


def test_every_command_with_json_is_in_the_table() -> None:
    of_files = {"evidence"}  # it asks no site, and its tests are beside it
    assert sorted(set(commands_of(_build_parser())) - of_files) == sorted(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_prints_an_object_a_line_and_nothing_else(run: Run, name: str) -> None:
    done = run(*COMMANDS[name].split(), "--json")
    assert (done.code, done.err) == (0, "")
    found = [json.loads(line) for line in done.out.splitlines()]
    assert found
    assert all(isinstance(one, dict) for one in found)
    assert done.out.replace("\n", "").isprintable()


# Exit codes


ENDS: dict[int, list[tuple[str, str, Answer]]] = {
    0: [
        ("submit bot.zip", VALIDATION, fine(VERSION)),
        ("wait --test 9", "/api/v1/version-tests/9/", fine(TEST)),
        ("tournament create cup.json", "/api/v1/tournaments/", fine(EVENT)),
    ],
    exit_codes.NO: [
        ("submit bot.zip", UPLOAD, refusal(422, "No bot.toml.")),
        ("submit bot.zip", VALIDATION, fine({**VERSION, "state": "refused"})),
        ("status Stone-Age@2", VALIDATION, fine({**VERSION, "state": "refused"})),
        ("test Stone-Age", "/api/v1/version-tests/9/", fine({**TEST, "state": "H0 accepted"})),
        ("tournament create cup.json", "/api/v1/tournaments/", refusal(422, "Too many.")),
    ],
    exit_codes.CANNOT: [
        ("submit none.zip", UPLOAD, refusal(422, "Never asked.")),
        ("submit bot.zip", UPLOAD, refusal(403, "The token may not.")),
        ("submit bot.zip", VALIDATION, fine({**VERSION, "state": "waiting"})),
        ("submit bot.zip --test stronger", "/api/v1/version-tests/", refusal(422, "A test is running.")),
        ("status Nobody", UPLOAD, rows()),
        ("games --site ftp://x --all", UPLOAD, rows()),
        ("games --most many", UPLOAD, rows()),
        ("watch 8", UPLOAD, rows()),
        ("download record 7", "/games/7.pgn", (404, b"", {})),
    ],
    exit_codes.UNDECIDED: [
        ("submit bot.zip --timeout 0.05", VALIDATION, fine({**VERSION, "state": "validating"})),
        ("wait --test 9", "/api/v1/version-tests/9/", fine({**TEST, "state": "undecided"})),
        ("wait --test 9 --timeout 0.05", "/api/v1/version-tests/9/", fine({**TEST, "state": "running"})),
    ],
}
"""For each exit code commands that end with it, each with an address and what it answers."""


@pytest.mark.parametrize(
    ("code", "words", "path", "answer"),
    [(code, *case) for code, cases in ENDS.items() for case in cases],
)
def test_a_command_ends_with_the_code_that_is_promised(
    site: ScriptedSite, run: Run, code: int, words: str, path: str, answer: Answer
) -> None:
    site.give(path, answer)
    assert run(*words.split()).code == code


def test_an_interrupted_command_says_so_in_one_line(
    site: ScriptedSite, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sleep(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("engines.client.version_test.time.sleep", sleep)
    site.give("/api/v1/version-tests/9/", fine({**TEST, "state": "running"}))
    done = run("wait", "--test", "9")
    assert (done.code, done.err) == (INTERRUPTED, "Interrupted; the site goes on with what it has begun.\n")


def test_these_are_the_codes_of_the_guide_and_of_the_help() -> None:
    shown = [*ENDS, INTERRUPTED]
    guide = read("engines/README.md").partition("| exit code |")[2].partition("\n\n")[0]
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", guide, re.MULTILINE)] == shown
    assert [int(code) for code in re.findall(r"\d+", exit_codes.MEANINGS)] == shown
