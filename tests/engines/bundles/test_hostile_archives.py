"""Hostile zips: the refusal, the remaining files, and the resources of a process that unpacks a large one."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from engines.bundles.store import hash_bundle, unpack_bundle
from tests.support import unpack_archive
from tests.support.hostile_zips import BOT, DEFLATED, DESCRIPTOR, HOSTILE, UTF8, Hostile, Part, bot_and, build

ROOT = Path(__file__).resolve().parents[3]
DEADLINE_SECONDS = 20.0
"""Ten times what the slowest takes on a busy machine."""
MEMORY_KIB = 200 * 1024


@dataclass
class Outcome:
    said: str
    seconds: float
    peak_kib: int


def take_in_elsewhere(path: Path, cache: Path) -> Outcome:
    """Let another process take the zip in, in a folder beside it."""
    place = path.parent / "place"
    place.mkdir()
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", unpack_archive.__name__, str(path), str(cache)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=place,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )
    seconds = time.monotonic() - started
    assert done.returncode == 0, done.stdout
    said, _, peak = done.stdout.rstrip("\n").rpartition("\n")
    return Outcome(said, seconds, int(peak))


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


LARGE = [
    name
    for name, hostile in HOSTILE.items()
    if "bomb" in name or len(hostile.make()) > 20_000 or "end" in name
]
"""Those whose unpacking might use much memory or time."""


@pytest.fixture
def zip_path(tmp_path: Path) -> Path:
    path = tmp_path / "in" / "bot.zip"
    path.parent.mkdir()
    return path


def assert_refused(hostile: Hostile, said: str, zip_path: Path) -> None:
    who, _, refusal = said.partition(": ")
    assert who == hostile.found_by
    assert re.search(hostile.complaint, refusal), refusal
    assert refusal.rstrip("\n").isprintable(), "one line that a terminal and a page can show"
    assert len(refusal) < 400
    assert set(tree(zip_path.parents[1])) <= {"in", "in/bot.zip", "in/place", "cache"}
    assert not Path("/tmp/duarena-absolute").exists()


@pytest.mark.parametrize("name", [name for name in HOSTILE if name not in LARGE])
def test_a_hostile_archive_leaves_nothing(
    name: str, zip_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(zip_path.parent)
    zip_path.write_bytes(HOSTILE[name].make())
    assert_refused(HOSTILE[name], unpack_archive.take_in(zip_path, tmp_path / "cache"), zip_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_a_large_hostile_archive_leaves_nothing_and_costs_little(
    name: str, zip_path: Path, tmp_path: Path
) -> None:
    zip_path.write_bytes(HOSTILE[name].make())
    outcome = take_in_elsewhere(zip_path, tmp_path / "cache")
    assert_refused(HOSTILE[name], outcome.said, zip_path)
    assert outcome.peak_kib < MEMORY_KIB
    assert outcome.seconds < DEADLINE_SECONDS


def test_an_honest_archive_of_every_allowed_kind_is_unpacked(zip_path: Path, tmp_path: Path) -> None:
    """The same builder, the same process: what refuses the others is not the builder's clumsiness."""
    data, squeezed = b"weights" * 1000, Part("poids/é.bin".encode(), b"w" * 5000, method=DEFLATED, flags=UTF8)
    descriptor = Part(b"later", data, flags=DESCRIPTOR, follow=b"PK\x07\x08" + bytes(12))
    zip_path.write_bytes(build(*BOT, squeezed, descriptor, Part(b"empty/", mode=stat.S_IFDIR | 0o755)))
    assert take_in_elsewhere(zip_path, tmp_path / "cache").said == "unpacked"
    (folder,) = (tmp_path / "cache").iterdir()
    assert (folder / "later").read_bytes() == data
    assert (folder / "poids" / "é.bin").read_bytes() == b"w" * 5000


def test_a_file_of_a_bundle_keeps_no_right_but_to_be_run(tmp_path: Path) -> None:
    path = tmp_path / "bot.zip"
    everything = stat.S_IFREG | stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX | 0o777
    path.write_bytes(bot_and(Part(b"setuid", b"#!/bin/sh\n", mode=everything)))
    folder = unpack_bundle(path, hash_bundle(path.read_bytes())[0], tmp_path / "cache")
    assert stat.S_IMODE((folder / "setuid").stat().st_mode) == 0o555
