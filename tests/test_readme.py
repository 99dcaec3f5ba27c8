"""The READMEs: their commands print the given output, their engine plays. ``test_docs`` checks the rest."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from engines.bundles.store import inspect_bundle
from engines.rules.history import History
from engines.rules.registry import GAMES
from tests.support.documents import blocks, examples, read
from tournament.embedded.plan import ROOT

README = "README.md"
PAGES = (README, "engines/README.md")


@pytest.mark.parametrize(("command", "output"), [example for page in PAGES for example in examples(page)])
def test_a_command_prints_the_output_on_the_page(command: str, output: str) -> None:
    program, *words = shlex.split(command)
    assert program == "python3"
    done = subprocess.run((sys.executable, *words), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout + done.stderr == output


def test_the_help_names_every_command_and_option() -> None:
    answer = subprocess.run(("./arena", "--help"), cwd=ROOT, capture_output=True, text=True, check=True)
    for word in "up demo admin test help --port --host --workers --data --trust-uploads".split():
        assert re.search(rf"(^|\s){word}\b", answer.stdout), word


@pytest.mark.parametrize("code", GAMES)
def test_the_engine_of_the_page_plays(code: str, tmp_path: Path) -> None:
    """Against itself, until the game is over or twenty plies are played."""
    (tmp_path / "main.py").write_text(blocks(README, "python")[0])
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


@pytest.mark.parametrize("page", PAGES)
def test_the_zip_of_the_page_is_accepted(page: str, tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text(blocks(page, "toml")[0])
    (tmp_path / "main.py").write_text(blocks(page, "python")[0])
    (command,) = re.findall(r"^python3 (-m zipfile -c .*)$", read(page), re.MULTILINE)
    subprocess.run((sys.executable, *shlex.split(command)), cwd=tmp_path, check=True)
    assert set(inspect_bundle((tmp_path / "bot.zip").read_bytes()).games) <= set(GAMES)


@pytest.mark.slow
def test_the_engine_of_the_page_passes_the_check_as_the_page_starts_it(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(blocks(README, "python")[0])
    (path, command) = re.findall(
        r"^PYTHONPATH=(\S+) python3 (-m workers check .*)$", read(README), re.MULTILINE
    )[0]
    assert f"`{path}` is your clone" in read(README)
    answer = subprocess.run(
        (sys.executable, *shlex.split(command)),
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout
