"""Bundles: hostile zips are refused with one sentence, good ones unpack whole and read-only."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.hostile_zips import DEFLATED, Part, bot_and
from workers.bundles import archive
from workers.bundles import store as bundles
from workers.bundles.store import (
    BundleError,
    bundle_path,
    drop_bundle,
    fetch_bundle,
    forget_dropped,
    inspect_bundle,
    pack_bundle,
    store_bundle,
    unpack_bundle,
)

MANIFEST = b'[bot]\nname = "A"\nversion = "1"\ncommand = ["./run", "x"]\ngames = ["duovallis"]\n'
FILES = {"bot.toml": MANIFEST, "run": b"#!/bin/sh\n", "data/deep/weights": b"\x00" * 10}
GOOD = pack_bundle(FILES)

LIAR = bot_and(Part(b"big", bytes(range(256)) * 4096, method=DEFLATED, size=5))
"""A megabyte that calls itself five bytes."""


def test_a_zip_over_the_upload_limit_is_refused() -> None:
    with pytest.raises(BundleError, match=f"the zip is {len(GOOD)} bytes, more than 100"):
        inspect_bundle(GOOD, max_bytes=100)


def test_the_declared_size_of_all_files_together_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_UNPACKED_BYTES", 50)
    with pytest.raises(BundleError, match=r"unpacks to .* bytes, more than 50"):
        inspect_bundle(GOOD)


@pytest.mark.parametrize("source", ["bytes", "file"])
def test_a_bundle_is_inspected_wherever_it_lies(source: str, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(GOOD)
    with path.open("rb") as file:
        assert inspect_bundle(GOOD if source == "bytes" else file).name == "A"
        assert not file.closed


def test_a_damaged_file_inside_does_not_hide_a_good_manifest() -> None:
    assert inspect_bundle(LIAR).name == "Hostile"


def test_the_same_files_make_the_same_bundle() -> None:
    assert pack_bundle(dict(reversed(FILES.items()))) == GOOD


# Unpacking


@pytest.fixture
def stored(tmp_path: Path) -> tuple[str, Path, Path]:
    """Hash, store and cache of the good bundle."""
    return store_bundle(tmp_path / "store", GOOD), tmp_path / "store", tmp_path / "cache"


def test_a_bundle_unpacks_read_only_with_its_program_runnable(stored: tuple[str, Path, Path]) -> None:
    sha256, store, cache = stored
    folder = fetch_bundle(sha256, store=store, cache=cache)
    found = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    assert found == FILES
    assert stat.S_IMODE((folder / "run").stat().st_mode) == 0o555
    assert stat.S_IMODE((folder / "data/deep/weights").stat().st_mode) == 0o444
    assert os.listdir(cache) == [sha256]


def test_a_bundle_in_the_cache_is_not_unpacked_again(stored: tuple[str, Path, Path]) -> None:
    sha256, store, cache = stored
    folder = fetch_bundle(sha256, store=store, cache=cache)
    bundle_path(store, sha256).unlink()
    assert fetch_bundle(sha256, store=store, cache=cache) == folder


def test_what_the_store_dropped_leaves_the_cache_as_well(stored: tuple[str, Path, Path]) -> None:
    sha256, store, cache = stored
    fetch_bundle(sha256, store=store, cache=cache)
    (cache / "sandbox.json").touch()
    forget_dropped(store, cache)
    assert (cache / sha256).is_dir()
    drop_bundle(store, sha256)
    forget_dropped(store, cache)
    forget_dropped(store, cache)
    assert os.listdir(cache) == ["sandbox.json"]


def test_a_store_that_is_gone_drops_nothing(stored: tuple[str, Path, Path]) -> None:
    sha256, store, cache = stored
    folder = fetch_bundle(sha256, store=store, cache=cache)
    shutil.rmtree(store)
    forget_dropped(store, cache)
    assert folder.is_dir()


def test_workers_may_unpack_the_same_bundle_at_once(stored: tuple[str, Path, Path]) -> None:
    sha256, store, cache = stored
    path = bundle_path(store, sha256)
    with ThreadPoolExecutor(8) as pool:
        folders = list(pool.map(lambda _: unpack_bundle(path, sha256, cache), range(8)))
    assert folders == [cache / sha256] * 8
    assert os.listdir(cache) == [sha256]


def test_a_bundle_with_another_content_than_its_hash_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(GOOD)
    with pytest.raises(BundleError, match=hashlib.sha256(GOOD).hexdigest()):
        unpack_bundle(path, "0" * 64, tmp_path / "cache")
    assert os.listdir(tmp_path / "cache") == []


@pytest.mark.parametrize("data", [LIAR, bot_and(Part(b"../xx", b"x"))])
def test_what_cannot_be_unpacked_leaves_nothing(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(data)
    with pytest.raises(BundleError):
        unpack_bundle(path, hashlib.sha256(data).hexdigest(), tmp_path / "cache")
    assert os.listdir(tmp_path / "cache") == []
    assert sorted(os.listdir(tmp_path)) == ["a.zip", "cache"]


def test_the_real_size_is_counted_while_unpacking(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bundles, "MAX_UNPACKED_BYTES", len(MANIFEST) + 5)
    sha256 = store_bundle(tmp_path, GOOD)
    with pytest.raises(BundleError, match="unpacks to more than"):
        fetch_bundle(sha256, store=tmp_path, cache=tmp_path / "cache")


def test_a_missing_bundle_is_not_the_bots_fault(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        fetch_bundle("0" * 64, store=tmp_path, cache=tmp_path / "cache")


def test_a_hash_that_is_no_hash_names_no_path(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"'../../etc' is not the SHA-256"):
        bundle_path(tmp_path, "../../etc")


def test_storing_may_be_repeated(tmp_path: Path) -> None:
    assert store_bundle(tmp_path, GOOD) == store_bundle(tmp_path, GOOD)
    assert len(list(tmp_path.rglob("*.zip"))) == 1


def test_bit_flips_anywhere_are_refused_or_harmless(tmp_path: Path) -> None:
    """Whatever byte is broken, the answer is a BundleError or a manifest, never another exception."""
    refused = 0
    for at in range(0, len(GOOD), 3):
        broken = GOOD[:at] + bytes([GOOD[at] ^ 0xFF]) + GOOD[at + 1 :]
        try:
            inspect_bundle(broken)
        except BundleError:
            refused += 1
    assert refused > len(GOOD) // 12
    assert zlib.crc32(GOOD) == zlib.crc32(pack_bundle(FILES))
