"""Bundles: hostile zips are refused with one sentence, good ones unpack whole and read-only."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import stat
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from engines.bundles import archive
from engines.bundles import store as bundles
from engines.bundles.store import (
    UNUSED_SECONDS,
    BundleError,
    bundle_path,
    drop_bundle,
    fetch_bundle,
    forget_dropped,
    forget_unused,
    inspect_bundle,
    pack_bundle,
    store_bundle,
    unpack_bundle,
)
from tests.support.hostile_zips import BOT, DEFLATED, Part, bot_and, build
from workers.engine.launch import explain_no_program, find_engine_program

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


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (
            ["bot.toml.txt"],
            r"'bot.toml.txt': rename the file to bot.toml \(Windows may hide the ending .txt\)",
        ),
        (["Bot.TOML"], "'Bot.TOML': rename the file to bot.toml, in small letters"),
        (["my/bot.toml"], "'my/bot.toml': zip the content of the folder, not the folder"),
        (["my/Bot.toml"], "'my/Bot.toml': rename the file to bot.toml, .* and zip the content of the folder"),
        (["__MACOSX/bot.toml", "a/bot.toml"], "'a/bot.toml': zip the content"),
        (["my.ZIP", "read.me"], "'my.ZIP': upload that zip itself"),
    ],
)
def test_a_zip_without_a_manifest_is_told_what_it_has_instead(names: list[str], sentence: str) -> None:
    with pytest.raises(BundleError, match=f"no bot.toml at its top, but it has {sentence}"):
        inspect_bundle(pack_bundle(dict.fromkeys(names, MANIFEST)))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (
            gzip.compress(b"x", mtime=0),
            r"but a gzip archive \(.tar.gz\): make a .zip, another name is not enough",
        ),
        (b"7z\xbc\xaf\x27\x1c" + bytes(40), "but a 7z archive"),
        (bytes(257) + b"ustar" + bytes(250), "but a tar archive"),
        (GOOD[:-30], "its end is missing, upload it again as a whole"),
        (b"<html>", "^this is not a zip file$"),
        (b"", "^this is not a zip file$"),
    ],
)
def test_a_file_that_is_no_zip_is_told_what_it_looks_like(data: bytes, sentence: str) -> None:
    with pytest.raises(BundleError, match=sentence):
        inspect_bundle(data)


@pytest.mark.parametrize(
    ("beginning", "sentence"),
    [
        (b"#!/bin/sh\r\nexec x\r\n", r"'run' has a Windows line end \(CRLF\) after '#!': save it with Unix"),
        (b"\xef\xbb\xbf#!/bin/sh\n", "'run' has a byte order mark before '#!'"),
        (b"MZ\x90\x00", "'run' is a Windows program: compile it for Linux"),
    ],
)
def test_a_program_that_linux_cannot_start_is_refused_with_the_reason(
    beginning: bytes, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(BundleError, match=sentence):
        inspect_bundle(pack_bundle({"bot.toml": MANIFEST, "run": beginning}))
    (tmp_path / "run").write_bytes(beginning)
    (tmp_path / "run").chmod(0o755)
    assert find_engine_program("run", tmp_path) is None
    assert re.match(sentence, explain_no_program("run", tmp_path))


@pytest.mark.parametrize("beginning", [b"#!/bin/sh\nexec x\r\n", b"\x7fELF\x02", b""])
def test_a_program_that_linux_may_start_is_not_refused(beginning: bytes) -> None:
    assert inspect_bundle(pack_bundle({"bot.toml": MANIFEST, "run": beginning})).program == "run"


def test_a_file_that_an_interpreter_reads_may_have_windows_line_ends() -> None:
    manifest = MANIFEST.replace(b'"./run", "x"', b'"python3", "run"')
    assert inspect_bundle(pack_bundle({"bot.toml": manifest, "run": b"#!/usr/bin/python3\r\n"})).name == "A"


def test_a_manifest_in_utf_16_is_named_as_that() -> None:
    with pytest.raises(BundleError, match=r"not UTF-8 at byte 0: it looks like UTF-16, save it as UTF-8"):
        inspect_bundle(pack_bundle({"bot.toml": MANIFEST.decode().encode("utf-16")}))


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


PROGRAM = stat.S_IFREG | 0o755
WINDOWS, MACOS = 0, 19


@pytest.mark.parametrize(
    ("part", "is_executable"),
    [
        (Part(b"inner/engine", b"data", mode=PROGRAM), True),
        (Part(b"inner/engine", b"data", mode=PROGRAM, system=MACOS), True),
        (Part(b"inner/engine", b"#!/bin/sh\n", mode=stat.S_IFREG | 0o644), False),
        (Part(b"inner/engine", b"#!/bin/sh\n", mode=0), True),
        (Part(b"inner/engine", b"#!/bin/sh\n", system=WINDOWS), True),
        (Part(b"inner/engine", b"\x7fELF\x02", system=WINDOWS), True),
        (Part(b"inner/engine", b"data", system=WINDOWS, mode=PROGRAM), False),
    ],
    ids=["unix", "macos", "a script that is not executable", "no mode", "script", "linux program", "data"],
)
def test_a_second_program_is_executable_as_its_zip_says(
    part: Part, is_executable: bool, tmp_path: Path
) -> None:
    """A zip made on Windows does not say it of any file."""
    sha256 = store_bundle(tmp_path / "store", bot_and(part))
    folder = fetch_bundle(sha256, store=tmp_path / "store", cache=tmp_path / "cache")
    mode = stat.S_IMODE((folder / part.name.decode()).stat().st_mode)
    assert mode == (0o555 if is_executable else 0o444)


def test_a_bundle_whose_paths_begin_with_a_dot_is_the_same_bundle(tmp_path: Path) -> None:
    parts = [replace(part, name=b"./" + part.name) for part in (*BOT, Part(b"data/deep", b"x"))]
    bundle = build(Part(b"./", mode=stat.S_IFDIR | 0o755), *parts)
    assert inspect_bundle(bundle) == inspect_bundle(build(*BOT))
    sha256 = store_bundle(tmp_path / "store", bundle)
    folder = fetch_bundle(sha256, store=tmp_path / "store", cache=tmp_path / "cache")
    found = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    assert found == {"bot.toml", "main.py", "data/deep"}


def test_a_bundle_in_the_cache_is_not_unpacked_again(stored: tuple[str, Path, Path]) -> None:
    sha256, store, cache = stored
    folder = fetch_bundle(sha256, store=store, cache=cache)
    bundle_path(store, sha256).unlink()
    assert fetch_bundle(sha256, store=store, cache=cache) == folder


def test_an_old_zip_in_a_cache_is_unpacked_again_where_its_folder_is_gone(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    store = cache / "zips"
    sha256 = store_bundle(store, GOOD)
    os.utime(bundle_path(store, sha256), (0, 0))
    assert fetch_bundle(sha256, store=store, cache=cache).is_dir()
    assert bundle_path(store, sha256).exists()


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


def test_what_no_engine_was_started_of_for_a_week_leaves_the_cache(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    store = cache / "zips"
    old, used = (
        store_bundle(store, pack_bundle({**FILES, "data/number": number})) for number in (b"1", b"2")
    )
    for sha256 in (old, used):
        fetch_bundle(sha256, store=store, cache=cache)
    (cache / ".0123-killed").mkdir()
    long_ago = time.time() - UNUSED_SECONDS - 1
    for path in (cache / old, cache / used, cache / ".0123-killed", *store.glob("??/*.zip")):
        os.utime(path, (long_ago, long_ago))
    fetch_bundle(used, store=store, cache=cache)
    new = store_bundle(store, GOOD)
    fetch_bundle(new, store=store, cache=cache)
    assert set(os.listdir(cache)) == {"zips", used, new}
    assert {path.stem for path in store.glob("??/*.zip")} == {used, new}


def test_a_site_s_store_is_not_a_cache(stored: tuple[str, Path, Path]) -> None:
    sha256, store, cache = stored
    fetch_bundle(sha256, store=store, cache=cache)
    forget_unused(store, cache, time.time() + 2 * UNUSED_SECONDS)
    assert not (cache / sha256).exists()
    assert bundle_path(store, sha256).exists()


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
