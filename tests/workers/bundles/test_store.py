"""Bundles: hostile zips are refused with one sentence, good ones unpack whole and read-only."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import stat
import struct
import threading
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

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

Build = Callable[[zipfile.ZipFile], object]


def zip_of(*builds: Build, manifest: bytes | None = MANIFEST) -> bytes:
    """A zip of manifest and program, and whatever else the builders put in."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as zipped:
        if manifest is not None:
            zipped.writestr("bot.toml", manifest)
        zipped.writestr("run", b"#!/bin/sh\n")
        for build in builds:
            build(zipped)
    return buffer.getvalue()


def entry(name: str, data: bytes = b"", *, mode: int = 0, method: int = zipfile.ZIP_STORED) -> Build:
    info = zipfile.ZipInfo("placeholder")
    info.filename = name
    info.external_attr = mode << 16
    return lambda zipped: zipped.writestr(info, data, method)


def named(raw: bytes) -> bytes:
    """A zip with an entry whose name is ``raw`` (five bytes), which the writer would not write."""
    return zip_of(entry("QQQQQ")).replace(b"QQQQQ", raw)


def encrypted() -> bytes:
    data = bytearray(zip_of(entry("secret")))
    at = data.rindex(b"PK\x01\x02", 0, data.rindex(b"secret"))
    data[at + 8] |= 1
    return bytes(data)


def overlapping() -> bytes:
    """The second entry's record points at the first one's data."""
    data = bytearray(zip_of())
    first, second = (data.index(b"PK\x01\x02"), data.rindex(b"PK\x01\x02"))
    data[second + 42 : second + 46] = data[first + 42 : first + 46]
    return bytes(data)


def understated(size: int) -> bytes:
    """A megabyte that calls itself ``size`` bytes."""
    data = bytearray(zip_of(entry("big", bytes(range(256)) * 4096, method=zipfile.ZIP_DEFLATED)))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.rindex(signature)
        struct.pack_into("<L", data, at + offset, size)
    return bytes(data)


def many(count: int) -> Build:
    def build(zipped: zipfile.ZipFile) -> None:
        for number in range(count):
            zipped.writestr(f"f{number}", b"")

    return build


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        pytest.param(b"", "not a zip", id="empty"),
        pytest.param(b"PK\x03\x04 nonsense", "not a zip", id="nonsense"),
        pytest.param(GOOD[:-30], "not a zip", id="cut short"),
        pytest.param(b"#!/bin/sh\n" + GOOD, "data before or after", id="data before"),
        pytest.param(GOOD + b"x", "data before or after", id="data after"),
        pytest.param(b"XX" + GOOD[2:], "damaged", id="broken local header"),
        pytest.param(named(b"../xx"), "'../xx' points outside the bundle", id="escape"),
        pytest.param(named(b"a/../"), "points outside the bundle", id="escape in the middle"),
        pytest.param(named(b"/etcx"), "'/etcx' has an absolute path", id="absolute"),
        pytest.param(named(b"C:abc"), "has an absolute path", id="drive"),
        pytest.param(named(b"a\\b.c"), "has a backslash", id="backslash"),
        pytest.param(named(b"ab\x00cd"[:5]), "has a character in its name", id="nul"),
        pytest.param(named(b"ab\ncd"), r"'ab\\ncd' has a character in its name", id="newline"),
        pytest.param(named(b"a//bc"), "not a plain path", id="empty part"),
        pytest.param(named(b"./abc"), "not a plain path", id="dot"),
        pytest.param(zip_of(entry("a/" * 16 + "b")), "nested deeper than 16", id="depth"),
        pytest.param(zip_of(entry("x" * 256)), "too long a name", id="long name"),
        pytest.param(
            zip_of(entry("link", b"/etc", mode=stat.S_IFLNK | 0o777)),
            "is a symbolic link",
            id="symlink",
        ),
        pytest.param(
            zip_of(entry("dev", mode=stat.S_IFCHR)), "'dev' is neither a file nor a folder", id="device"
        ),
        pytest.param(zip_of(entry("pipe", mode=stat.S_IFIFO)), "neither a file nor a folder", id="fifo"),
        pytest.param(encrypted(), "'secret' is encrypted", id="encrypted"),
        pytest.param(zip_of(entry("a", method=zipfile.ZIP_BZIP2)), "neither stored nor deflated", id="bzip2"),
        pytest.param(named(b"aaaaa").replace(b"aaaaa", b"run/a"), "both as a file and", id="file and folder"),
        pytest.param(zip_of(entry("a"), entry("b")).replace(b"b", b"a"), "damaged|two entries", id="twice"),
        pytest.param(zip_of(many(1999)), "2001 entries, more than 2000", id="too many entries"),
        pytest.param(zip_of(*(entry(f"{n}/{n}/f") for n in range(700))), "files and folders", id="folders"),
        pytest.param(
            zip_of(entry("bomb", b"\x00" * 4_000_000, method=zipfile.ZIP_DEFLATED)),
            "'bomb' unpacks to more than 200 times",
            id="bomb",
        ),
        pytest.param(overlapping(), "overlaps another part", id="overlap"),
        pytest.param(zip_of(manifest=None), "has no bot.toml at its top", id="no manifest"),
        pytest.param(
            zip_of(entry("bot/bot.toml", MANIFEST), manifest=None),
            "but it has 'bot/bot.toml': zip the content of the folder",
            id="manifest in a folder",
        ),
        pytest.param(zip_of(manifest=b"\n" * 70_000), "bot.toml is over 64 KiB", id="big manifest"),
        pytest.param(zip_of(manifest=b"\xff"), "not UTF-8", id="not utf-8"),
        pytest.param(zip_of(manifest=b"[bot"), "not valid TOML", id="not toml"),
        pytest.param(
            pack_bundle({"bot.toml": MANIFEST}), "starts with './run', which is neither", id="no program"
        ),
    ],
)
def test_a_hostile_zip_is_refused_with_one_sentence(data: bytes, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=complaint) as caught:
        inspect_bundle(data)
    assert "\n" not in str(caught.value)


def test_a_zip_over_the_upload_limit_is_refused() -> None:
    with pytest.raises(BundleError, match=f"the zip is {len(GOOD)} bytes, more than 100"):
        inspect_bundle(GOOD, max_bytes=100)


def test_the_declared_size_of_all_files_together_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_UNPACKED_BYTES", 50)
    with pytest.raises(BundleError, match=r"unpacks to .* bytes, more than 50"):
        inspect_bundle(GOOD)


def test_zip64_is_refused() -> None:
    end = GOOD.rindex(b"PK\x05\x06")
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, end, 1)
    with pytest.raises(BundleError, match="zip64"):
        inspect_bundle(GOOD[:end] + locator + GOOD[end:])


@pytest.mark.parametrize("source", ["bytes", "file", "path"])
def test_a_bundle_is_inspected_wherever_it_lies(source: str, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(GOOD)
    with path.open("rb") as file:
        given = {"bytes": GOOD, "file": file, "path": path}[source]
        assert inspect_bundle(given).name == "A"  # type: ignore[arg-type]
        assert not file.closed


def test_a_damaged_file_inside_does_not_hide_a_good_manifest() -> None:
    assert inspect_bundle(understated(5)).name == "A"


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
    folders: list[Path] = []
    threads = [
        threading.Thread(target=lambda: folders.append(unpack_bundle(path, sha256, cache))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert folders == [cache / sha256] * 8
    assert os.listdir(cache) == [sha256]


def test_a_bundle_with_another_content_than_its_hash_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(GOOD)
    with pytest.raises(BundleError, match=hashlib.sha256(GOOD).hexdigest()):
        unpack_bundle(path, "0" * 64, tmp_path / "cache")
    assert os.listdir(tmp_path / "cache") == []


@pytest.mark.parametrize("data", [understated(5), understated(2_000_000), named(b"../xx")])
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
