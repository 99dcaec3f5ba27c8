"""The README: its commands print what it says, its engine plays, its links lead somewhere."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from engines.rules.history import History
from engines.rules.registry import GAMES
from tournament.embedded.options import parse_options
from tournament.embedded.plan import ROOT
from workers.bundles import inspect_bundle, pack_bundle

PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/operations.md",
    "docs/DESIGN.md",
    "docs/benchmarks.md",
    "docs/match.md",
    "docs/strength.md",
    "docs/tournaments.md",
    "benchmarks/README.md",
)
README = (ROOT / "README.md").read_text()


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def console_examples() -> list[tuple[str, str]]:
    """Each command after ``$`` with what follows it."""
    text = "".join(blocks("console"))
    parts = re.split(r"^\$ (.*)\n", text, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def arena_commands() -> list[str]:
    lines = "".join(block for page in PAGES for block in blocks("sh", (ROOT / page).read_text())).splitlines()
    return [line.partition("#")[0].strip() for line in lines if "./arena" in line]


@pytest.mark.parametrize(("command", "output"), console_examples())
def test_a_command_prints_what_the_page_says(command: str, output: str) -> None:
    words = shlex.split(command)
    assert words[0] == "python"
    answer = subprocess.run(
        (sys.executable, *words[1:]), cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert answer.stdout == output


@pytest.mark.parametrize("command", sorted(set(arena_commands())))
def test_the_start_script_knows_every_command_of_the_pages(command: str) -> None:
    words = shlex.split(command.partition("./arena ")[2])
    if words[0] == "test":
        assert words[1:] in ([], ["--quick"])
    elif words != ["help"]:
        assert parse_options(words).command == words[0]


def test_the_help_names_every_command_and_option() -> None:
    answer = subprocess.run(("./arena", "--help"), cwd=ROOT, capture_output=True, text=True, check=True)
    for word in (
        "up",
        "demo",
        "admin",
        "test",
        "help",
        "--port",
        "--host",
        "--workers",
        "--data",
        "--trust-uploads",
    ):
        assert re.search(rf"(^|\s){word}\b", answer.stdout), word


def engine_lines(code: str) -> int:
    return len([line for line in code.splitlines() if line])


def test_the_engine_of_the_page_is_no_longer_than_it_says() -> None:
    assert engine_lines(blocks("python")[0]) <= 8


@pytest.mark.parametrize("code", GAMES)
def test_the_engine_of_the_page_plays(code: str, tmp_path: Path) -> None:
    """Against itself, until the game is over or twenty plies are played."""
    (tmp_path / "main.py").write_text(blocks("python")[0])
    engine = subprocess.Popen(
        (sys.executable, str(tmp_path / "main.py")),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
    )
    with engine:
        assert engine.stdin is not None
        assert engine.stdout is not None
        print("ugi", f"setoption name UGI_Variant value {code}", "uginewgame", sep="\n", file=engine.stdin)
        game = History(GAMES[code])
        while not game.outcome.decided and len(game.moves) < 20:
            moves = f" moves {' '.join(game.moves)}" if game.moves else ""
            print(f"position startpos{moves}", "go depth 1", sep="\n", file=engine.stdin)
            answer = next(line for line in engine.stdout if line.startswith("bestmove"))
            game.play(answer.split()[1])
        print("quit", file=engine.stdin)
    assert len(game.moves) >= 2


def test_the_manifest_of_the_page_is_accepted() -> None:
    manifest = blocks("toml")[0]
    assert tomllib.loads(manifest)["bot"]["games"] == list(GAMES)
    bundle = pack_bundle({"bot.toml": manifest.encode(), "main.py": blocks("python")[0].encode()})
    assert inspect_bundle(bundle).name == "First by Name"


@pytest.mark.parametrize("document", PAGES)
def test_links_to_files_lead_somewhere(document: str) -> None:
    path = ROOT / document
    for target in re.findall(r"\]\(([^)#]+)", path.read_text()):
        if not target.startswith("http"):
            assert (path.parent / target).exists(), target


def test_every_setting_is_in_the_operations_page() -> None:
    read = re.findall(r"\b(DUARENA_[A-Z]+)\b", (ROOT / "tournament/settings.py").read_text())
    page = (ROOT / "docs/operations.md").read_text()
    for name in set(read):
        assert f"`{name}`" in page, name


def test_every_direct_dependency_has_its_reason() -> None:
    direct = (ROOT / "requirements.txt").read_text().partition("# Direct")[2].partition("# Required")[0]
    names = {re.split(r"[=\[]", line)[0].lower() for line in direct.split("\n") if line and line[0] != "#"}
    table = (ROOT / "CHANGELOG.md").read_text().lower()
    for name in names:
        assert re.search(rf"\|[^|]*\b{re.escape(name)}\b[^|]*\|", table), name
