"""``python -m workers evidence``: games of an archive played again by the bundles in it."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engines.records import Record, format_record, read_records
from tests.support.evidence import LADDER, EvidenceDraft, ladder_draft
from tests.support.fake_site import bundle_of
from tests.support.matches import run_match
from workers.commands.evidence import main

BOTS = ("Ant", "Bee")
OTHER = "import random; random.Random.choice = lambda self, words: words[-1]"
"""A first line of a bot, with which it chooses other moves."""
TERMS = f"-game {LADDER} -tc nodes=5 -plylimit 6 -openings none -seed 3".split()


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Record, list[bytes]]:
    """A game between two bundles, and the bundles."""
    folder = tmp_path_factory.mktemp("match")
    bundles = [bundle_of(name, games=[LADDER]) for name in BOTS]
    for name, content in zip(BOTS, bundles, strict=True):
        (folder / f"{name}.zip").write_bytes(content)
    given = {name: shlex.quote(str(folder / f"{name}.zip")) for name in BOTS}
    engines = [word for name in BOTS for word in ("-engine", f"cmd={given[name]}", f"name={name}")]
    finished = run_match(folder, *engines, *TERMS)
    assert finished.code == 0, finished.err
    with finished.records.open(encoding="utf-8") as lines:
        record = next(iter(read_records(lines, "match.pgn")))
    assert isinstance(record, Record)
    return record, bundles


@pytest.fixture
def draft(played: tuple[Record, list[bytes]]) -> EvidenceDraft:
    """Evidence with that game alone; its tables do not matter here."""
    record, bundles = played
    draft = ladder_draft(4)
    row = replace(draft.rows["schedule.jsonl"][0], white="Ant/1", black="Bee/1", opening="")
    headers = dict(record.headers) | {"GameId": row.game}
    draft.records = [format_record(replace(record, headers=tuple(headers.items())))]
    draft.rows["schedule.jsonl"] = [row]
    draft.bundles = bundles
    version = draft.rows["versions.jsonl"][0]
    draft.rows["versions.jsonl"] = [
        replace(version, version=f"{name}/1", published=True, bundle_sha256=hashlib.sha256(one).hexdigest())
        for name, one in zip(BOTS, bundles, strict=True)
    ]
    return draft


@pytest.fixture
def replayed(
    draft: EvidenceDraft, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[], tuple[int, list[str]]]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run() -> tuple[int, list[str]]:
        code = main([str(draft.pack(tmp_path / "evidence.zip")), "--replay", "3"])
        return code, [line for line in capsys.readouterr().out.splitlines() if " replay: " in line]

    return run


def test_the_published_bundles_play_the_same_game(replayed: Callable[[], tuple[int, list[str]]]) -> None:
    assert replayed() == (0, ["ok           replay: 1 games are the same, played again by their bundles"])


def test_a_move_that_the_bundle_does_not_make_is_named(
    draft: EvidenceDraft, replayed: Callable[[], tuple[int, list[str]]]
) -> None:
    draft.bundles = [draft.bundles[0], bundle_of("Bee", OTHER, games=[LADDER])]
    sha256 = hashlib.sha256(draft.bundles[1]).hexdigest()
    draft.change("versions.jsonl", 1, bundle_sha256=sha256)
    code, (line,) = replayed()
    assert code == 1
    assert line.startswith(f"DIFFERS      replay: game 'ladder-{LADDER}/1/1/1', ply 2: the record has ")


def test_games_without_published_bundles_are_not_played(
    draft: EvidenceDraft, replayed: Callable[[], tuple[int, list[str]]]
) -> None:
    draft.change("versions.jsonl", 1, published=False)
    said = "no game has a limit of nodes and two players with published bundles"
    assert replayed() == (3, [f"not checked  replay: {said}"])
