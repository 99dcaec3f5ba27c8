"""``python -m workers arena``: whom an engine meets, and what its result means on the site."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import bad_engines
from tests.support.fake_site import FakeSite, fake_site
from tests.support.matches import ROOT, read_games

ROVER = {"bot": "Rover", "place": 1, "licence": "MIT", "elo": 100.0}
RANDOM = {"bot": "Random", "owner": None}
MINE = ("python3", "-S", bad_engines.__file__, "mark")
SHORT = ("-plylimit", "6", "-rounds", "1", "-game", "dogon-kulei")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSite]:
    with fake_site(tmp_path, monkeypatch) as site:
        yield site


def arena(site: FakeSite, *words: str) -> subprocess.CompletedProcess[str]:
    """The command in a folder beside the site's."""
    folder = site.folder.parent / "mine"
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DUARENA_SITE": site.url}
    command = [sys.executable, "-m", "workers", "arena", *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def opponents_of(done: subprocess.CompletedProcess[str]) -> list[str]:
    return re.findall(r"(\w+) v\d+ \(", done.stdout.splitlines()[0])


def test_an_engine_meets_published_bots_and_samples_and_gets_an_elo_and_a_place(site: FakeSite) -> None:
    private, worse = (
        ROVER | {"bot": "Secret", "licence": "", "place": 2},
        ROVER | {"version": 2, "place": None},
    )
    site.rate(ROVER, worse, private, RANDOM)
    done = arena(site, *SHORT, "-name", "Mine", "--", *MINE)
    assert done.returncode == 0, done.stderr
    assert opponents_of(done) == ["Rover", "Random"]
    elo, place = done.stdout.splitlines()[-2:]
    assert re.fullmatch(
        r"Mine scored \d+\.\d% of 4 games: [+-]\d+ Elo \([+-]\d+ to [+-]\d+ at 95 %\) on the scale of http.*",
        elo,
    )
    assert re.fullmatch(r"That would be number [123] of 3 on dogon-kulei \([123] to [123]\)", place)
    games = read_games(site.folder.parent / "mine" / "arena-dogon-kulei.pgn")
    assert {frozenset((game.header("White"), game.header("Black"))) for game in games} == {
        frozenset(("Mine", "Rover")),
        frozenset(("Mine", "Random")),
    }
    assert {game.header("TimeControl") for game in games} == {"nodes=1"}


def test_only_the_best_published_bots_and_all_samples_are_met(site: FakeSite) -> None:
    bots = [ROVER | {"bot": name, "place": number} for number, name in enumerate("ABC", 1)]
    site.rate(*bots, RANDOM, ROVER | {"bot": "Unknown", "elo": None})
    done = arena(site, *SHORT, "-bots", "2", "-dry-run", "--", *MINE)
    assert done.returncode == 0, done.stderr
    assert opponents_of(done) == ["A", "B", "Random"]
    assert not (site.folder.parent / "mine" / "arena-dogon-kulei.pgn").exists()


def test_a_match_is_continued(site: FakeSite) -> None:
    site.rate(ROVER)
    assert arena(site, *SHORT, "--", *MINE).returncode == 0
    again = arena(site, *SHORT, "--", *MINE)
    assert again.returncode == 2
    assert "arena-dogon-kulei.pgn: the file already has games; continue them with -resume" in again.stderr
    more = arena(site, *SHORT[:2], "-rounds", "2", *SHORT[4:], "-resume", "--", *MINE)
    assert more.returncode == 0, more.stderr
    assert "% of 4 games" in more.stdout


def test_the_ladders_and_the_command_are_those_of_a_manifest(site: FakeSite) -> None:
    folder = site.folder.parent / "mine"
    folder.mkdir()
    (folder / "main.py").write_bytes(Path(bad_engines.__file__).read_bytes())
    (folder / "bot.toml").write_text(
        '[bot]\nname = "Mine"\nversion = "1"\ncommand = ["python3", "-S", "main.py", "mark"]\n'
        'games = ["dogon-kulei"]\n'
    )
    site.rate(ROVER)
    done = arena(site, *SHORT[:4])
    assert done.returncode == 0, done.stderr
    assert "No bot has" not in done.stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "no engine was given: write its command after --"),
        (("-game", "chess", "--", *MINE), "unknown game 'chess'"),
        (("-game", "dualma", "--", *MINE), "has no ladder 'dualma'"),
        (("-bots", "many", "--", *MINE), "-bots many: 'many' is not a whole number from 0 to 100"),
        (("-json", "--", *MINE), "-json: only 'match' has it"),
        (("--", "./nothing"), "there is no executable program './nothing'"),
        (("--", *MINE), "the engine declares no ladder in UGI_Variant"),
        (("-site", "x", "-game", "dogon-kulei", "--", *MINE), "'x' is not the address of a site"),
    ],
)
def test_what_is_wrong_is_told_in_one_sentence(
    site: FakeSite, words: tuple[str, ...], complaint: str
) -> None:
    site.rate(ROVER)
    done = arena(site, *words)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("written", ["{} ", "{}\n", "{}/bots/ x", "http://me@{}"])
def test_no_name_of_a_bot_is_run_as_a_command(site: FakeSite, written: str) -> None:
    site.rate(ROVER | {"bot": "sh -c 'touch ../harmed; cat' #"})
    host = site.url.removeprefix("http://")
    done = arena(site, *SHORT, "-site", written.format(host if "@" in written else site.url), "--", *MINE)
    assert not (site.folder.parent / "harmed").exists()
    assert "Traceback" not in done.stderr
    assert (written == "{}/bots/ x") == (done.returncode == 0), done.stderr


@pytest.mark.parametrize("elo", ["NaN", "Infinity", "1e300", "-1e9"])
def test_an_elo_that_is_none_is_refused(site: FakeSite, elo: str) -> None:
    site.rate(ROVER | {"elo": float(elo)})
    done = arena(site, *SHORT, "--", *MINE)
    assert (done.returncode, done.stderr) == (2, f"{site.url} did not answer as a Duarena site does\n")


def test_an_answer_that_is_no_ladder_is_refused(site: FakeSite) -> None:
    (site.folder / "ladders" / "dogon-kulei" / "ratings.json").write_text('{"ratings": [{}]}')
    done = arena(site, "-game", "dogon-kulei", "--", *MINE)
    assert (done.returncode, done.stderr) == (2, f"{site.url} did not answer as a Duarena site does\n")


def test_a_ladder_without_opponents_is_left_out_with_a_sentence(site: FakeSite) -> None:
    site.rate(ROVER | {"licence": ""}, ROVER | {"bot": "New", "elo": None})
    done = arena(site, *SHORT, "--", *MINE)
    assert done.returncode == 1
    assert (
        done.stderr == f"dogon-kulei: {site.url} has no published bot and no sample with an estimated Elo\n"
    )
