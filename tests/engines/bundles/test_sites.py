"""A game of a site played again, with a small web server and real bundles."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.bundles.sites import SiteError, ask_engines
from tests.support.fake_site import NAMES, FakeSite, bundle_of, fake_site
from tests.support.matches import engine, run_match
from workers.commands.check import main as check
from workers.commands.match import main as match
from workers.commands.replay import main
from workers.engine import sandbox_probe

GAME = "dogon-kulei/1/1/1"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSite]:
    with fake_site(tmp_path, monkeypatch) as site:
        yield site


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two games between the bots that the site has."""
    folder = tmp_path_factory.mktemp("match")
    for name in NAMES.values():
        (folder / f"{name}.zip").write_bytes(bundle_of(name))
    words = [word for name in NAMES.values() for word in ("-engine", f"cmd={name}.zip")]
    finished = run_match(folder, *words, *"-game dogon-kulei -tc nodes=1 -plylimit 20".split())
    assert finished.code == 0, finished.err
    return finished.records


def test_a_game_of_a_site_is_played_again_with_the_bundles_it_was_played_with(
    site: FakeSite, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(records), "--game", GAME, "--site", f"{site.url}/games/12/"]) == 0
    assert capsys.readouterr().out.startswith("the same game: ")


def test_bundles_are_fetched_once(site: FakeSite, records: Path) -> None:
    words = [str(records), "--game", GAME, "--site", site.url]
    assert main(words) == 0
    for name in NAMES.values():
        (site.folder / f"{name}.zip").unlink()
    assert main(words) == 0


def test_a_bundle_that_is_not_given_away_is_asked_of_its_owner(
    site: FakeSite, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.engines["black"]["bundle"] = None
    site.tell()
    words = [str(records), "--game", GAME, "--site", site.url]
    assert main(words) == 2
    assert capsys.readouterr().err == (
        "Rover v3 is not published: the site gives its bundle to its owner only, who can log in, "
        f"download it from {site.url}/bots/rover/3/ and give it as cmd=FILE.zip\n"
    )
    own = site.folder / "Rover.zip"
    assert main([*words, "-engine", f"cmd={own}"]) == 0


def test_an_engine_of_neither_name_is_refused(
    site: FakeSite, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(records), "--game", GAME, "--site", site.url, *engine("Third")]) == 2
    assert (
        "name='Third': with --site the name must be that of one of the two players" in capsys.readouterr().err
    )


def test_another_bundle_than_was_promised_is_not_run(
    site: FakeSite, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (site.folder / "Stray.zip").write_bytes(bundle_of("Other"))
    assert main([str(records), "--game", GAME, "--site", site.url]) == 2
    assert ": it is not used" in capsys.readouterr().err


@pytest.mark.parametrize(
    "answer", ["no JSON", "[]", "{}", '{"white": {}, "black": {}}', '{"white": 1, "black": 2}', '"' * 70_000]
)
def test_an_answer_that_is_no_site_s_is_refused(site: FakeSite, answer: str) -> None:
    (site.folder / "games" / "engines.json").write_text(answer)
    with pytest.raises(SiteError, match=r"did not answer as a Duarena site does|is longer than 65536 bytes"):
        ask_engines(site.url, GAME)


def test_a_digest_that_is_none_is_refused(site: FakeSite) -> None:
    site.engines["white"]["sha256"] = "../../etc/passwd"
    site.tell()
    with pytest.raises(SiteError, match="did not answer as a Duarena site does"):
        ask_engines(site.url, GAME)


@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        ("duarena.example", "'duarena.example' is not the address of a site: write https://HOST"),
        ("file:///etc/passwd", "is not the address of a site"),
        ("http://127.0.0.1:9", r"http://127.0.0.1:9/games/engines.json\?id=.* cannot be fetched: .*refused"),
    ],
)
def test_an_address_that_is_none_is_told(address: str, complaint: str) -> None:
    with pytest.raises(SiteError, match=complaint):
        ask_engines(address, GAME)


def test_a_game_the_site_does_not_know_is_told(site: FakeSite) -> None:
    (site.folder / "games" / "engines.json").unlink()
    with pytest.raises(SiteError, match=f"has no game '{GAME}' that everybody may see"):
        ask_engines(site.url, GAME)


QUICK = "-game dogon-kulei -tc nodes=1 -plylimit 10"


def test_a_published_bot_plays_a_match_and_is_fetched_once(site: FakeSite, tmp_path: Path) -> None:
    opponent = f"cmd=Rover@{site.url}"
    words = ("-engine", opponent, *engine("Mine"), *QUICK.split())
    first = run_match(tmp_path, *words)
    assert first.code == 0, first.err
    players = {(game.header("White"), game.header("WhiteVersion")) for game in first.games.values()}
    assert ("Rover", "3") in players
    (site.folder / "Rover.zip").unlink()
    again = run_match(tmp_path, *words, "-records", "again.pgn")
    assert again.code == 0, again.err


def test_a_bot_of_a_site_that_is_not_published_is_refused_with_the_place_of_the_option(
    site: FakeSite, tmp_path: Path
) -> None:
    site.engines["black"]["bundle"] = None
    site.tell()
    refused = run_match(tmp_path, "-engine", f"cmd=Rover@{site.url}", *engine("Mine"), *QUICK.split())
    assert refused.code == 2
    assert refused.err.startswith(f"-engine cmd=Rover@{site.url}: Rover v3 is not published: ")


def test_a_published_bot_is_checked(site: FakeSite, capfd: pytest.CaptureFixture[str]) -> None:
    assert check([f"Rover@{site.url}"]) == 0
    assert "no fault in " in capfd.readouterr().out
    assert check([f"Nobody@{site.url}9/x"]) == 2
    assert "cannot be fetched" in capfd.readouterr().err


@pytest.mark.parametrize("command", ["match", "replay", "check"])
def test_without_a_sandbox_a_strangers_program_is_run_after_a_warning(
    site: FakeSite,
    records: Path,
    tmp_path: Path,
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sandbox_probe, "missing_programs", lambda: ["bwrap"])
    monkeypatch.chdir(tmp_path)
    bot = f"Rover@{site.url}"
    run = {
        "match": lambda: match(["-engine", f"cmd={bot}", *engine("Mine"), *QUICK.split()]),
        "replay": lambda: main([str(records), "--game", GAME, "--site", site.url]),
        "check": lambda: check([bot]),
    }
    assert run[command]() == 0
    warning = capfd.readouterr().err
    assert warning.startswith("warning: ")
    assert (
        "Rover: a stranger's program is run without a sandbox, with all the rights that you have" in warning
    )
    assert "the program bwrap" in warning


def test_ones_own_engines_are_run_without_a_warning(tmp_path: Path) -> None:
    finished = run_match(tmp_path, *engine("Mine"), *engine("Other"), *QUICK.split())
    assert (finished.code, finished.err) == (0, "")
