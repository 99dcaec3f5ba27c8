"""Archives that want to harm who checks them: each is refused with one printable sentence."""

from __future__ import annotations

import json
import os
import struct
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engines.__main__ import main
from engines.evidence import archive, reading
from engines.evidence.format import MANIFEST, RECORDS, SIGNATURE
from tests.support import evidence
from tests.support.evidence import EvidenceDraft, ladder_draft, zipped

Refused = Callable[..., str]


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return ladder_draft(4).packed()


@pytest.fixture
def refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Refused:
    """The sentence of an archive that cannot be read."""

    def run(content: bytes, *more: str) -> str:
        path = tmp_path / "evidence.zip"
        path.write_bytes(content)
        code = main(["evidence", str(path), *more])
        printed = capsys.readouterr()
        assert code == 2
        assert (printed.out + printed.err).replace("\n", "").isprintable()
        return printed.err.rstrip("\n")

    return run


def with_manifest(packed: dict[str, bytes], **values: Any) -> bytes:
    manifest = {**json.loads(packed[MANIFEST]), **values}
    return zipped({**packed, MANIFEST: json.dumps(manifest).encode()}.items())


def test_what_is_no_zip_is_refused(refused: Refused, tmp_path: Path) -> None:
    assert refused(b"PK or not") == "it is neither a zip nor a folder of evidence"
    assert refused(zipped({"a": b""}.items())).endswith("has no manifest.json: it is no evidence")
    (tmp_path / "evidence.zip").unlink()
    assert main(["evidence", str(tmp_path / "evidence.zip")]) == 2


@pytest.mark.parametrize("place", ["records.pgn", "tables", "other"])
def test_a_folder_with_links_or_pipes_is_refused(
    place: str, files: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, outside = tmp_path / "evidence", tmp_path / "outside"
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    if (folder / place).exists():
        (folder / place).rename(outside)
        (folder / place).symlink_to(outside)
    else:
        os.mkfifo(folder / place)
    assert main(["evidence", str(folder)]) == 2
    assert capsys.readouterr().err.rstrip() == f"'{place}' of the folder is no file"


def test_a_manifest_of_no_moment_is_refused(
    refused: Refused, files: dict[str, bytes], tmp_path: Path
) -> None:
    (tmp_path / "signers").write_text("")
    for at in ("yesterday", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"):
        content = with_manifest({**files, SIGNATURE: b""}, at=at)
        assert refused(content, "--signers", str(tmp_path / "signers")).endswith(
            f"at is {at!r}, not a moment"
        )


def test_a_name_twice_is_refused(refused: Refused, files: dict[str, bytes]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        content = zipped([*files.items(), (RECORDS, b"others")])
    assert refused(content) == f"the zip has two files named '{RECORDS}'"


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "bundles/x.zip", "records.pgn/", "a\x1b[2J"])
def test_a_manifest_lists_no_other_files(refused: Refused, files: dict[str, bytes], name: str) -> None:
    listed = {**json.loads(files[MANIFEST])["files"], name: {"sha256": "0" * 64, "bytes": 1}}
    assert "which is no file of evidence" in refused(with_manifest(files, files=listed))


@pytest.mark.parametrize("name", ["../x", "/x", "a\x1b[2J", "x\u202e"])
def test_names_of_a_zip_are_only_shown(
    files: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = tmp_path / "evidence.zip"
    path.write_bytes(zipped([*files.items(), (name, b"")]))
    assert main(["evidence", str(path)]) == 1
    out = capsys.readouterr().out
    assert "is not in the manifest" in out
    assert out.replace("\n", "").isprintable()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["evidence.zip"]


def test_a_file_that_unpacks_to_very_much_is_refused(refused: Refused, files: dict[str, bytes]) -> None:
    content = zipped({**files, RECORDS: bytes(8 * 1024 * 1024)}.items())
    assert refused(content) == f"'{RECORDS}' of the zip unpacks to more than 200 times its size"


def test_a_file_is_read_only_up_to_its_listed_size(
    files: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(archive, "PIECE", 64)
    path = tmp_path / "evidence.zip"
    path.write_bytes(zipped({**files, "workers.jsonl": files["workers.jsonl"] + b" " * 900_000}.items()))
    main(["evidence", str(path)])
    size = len(files["workers.jsonl"])
    assert f"workers.jsonl has more bytes, the manifest says {size}" in capsys.readouterr().out


def test_a_large_directory_is_refused_before_it_is_read(refused: Refused, files: dict[str, bytes]) -> None:
    content = bytearray(zipped(files.items()))
    at = content.rfind(b"PK\x05\x06")
    struct.pack_into("<L", content, at + 12, 1 << 30)
    assert (
        refused(bytes(content)) == "the zip's directory has 12 entries in 1073741824 bytes, which is too much"
    )


def test_a_damaged_file_is_named(refused: Refused, files: dict[str, bytes]) -> None:
    content = bytearray(zipped(files.items()))
    at = content.find(b"event.json") + 60
    content[at : at + 20] = bytes(20)
    assert refused(bytes(content)).startswith("event.json is damaged: ")


def test_an_encrypted_file_is_refused(refused: Refused, files: dict[str, bytes]) -> None:
    content = bytearray(zipped(files.items()))
    at = content.find(b"PK\x01\x02")
    content[at + 8] |= 1
    assert refused(bytes(content)) == f"'{MANIFEST}' of the zip is neither stored nor deflated"


def test_another_compression_is_refused(refused: Refused, tmp_path: Path) -> None:
    path = tmp_path / "lzma.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as made:
        made.writestr(MANIFEST, "{}")
    assert refused(path.read_bytes()) == f"'{MANIFEST}' of the zip is neither stored nor deflated"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"evidence": 2}, "manifest.json: it has form 2 of evidence, this program has 1"),
        ({"files": {}}, "manifest.json does not list attempts.jsonl"),
        (
            {"revision": 10**30},
            "manifest.json: revision is '1000000000000000000000000000000', not a whole number",
        ),
        ({"kind": "site"}, "manifest.json: kind is 'site', not one of tournament, ladder"),
        ({"more": 1}, "manifest.json: the line has the unknown key 'more'"),
    ],
)
def test_a_manifest_of_another_form_is_refused(
    refused: Refused, files: dict[str, bytes], values: dict[str, Any], said: str
) -> None:
    assert refused(with_manifest(files, **values)) == said


@pytest.mark.parametrize("size", [-1, 2**62])
def test_sizes_are_limited(refused: Refused, files: dict[str, bytes], size: int) -> None:
    listed = json.loads(files[MANIFEST])["files"]
    listed[RECORDS]["bytes"] = size
    assert refused(with_manifest(files, files=listed)).startswith("manifest.json")


def test_texts_of_an_archive_cannot_act_on_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    draft = ladder_draft(4)
    draft.change("workers.jsonl", 0, worker="\x1b]0;owned\x07\x00\u202e")
    draft.document = replace(
        draft.document, events=(replace(draft.document.events[0], title="\x1b[2J" * 1000),)
    )
    monkeypatch.setattr(evidence, "SITE", "\x1b[2J" * 1000)
    assert main(["evidence", str(draft.pack(tmp_path / "evidence.zip"))]) == 1
    out = capsys.readouterr().out
    assert out.replace("\n", "").isprintable()
    assert "\\x1b[2J" in out
    assert max(map(len, out.splitlines())) < 800


def test_many_differences_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draft = ladder_draft(20)
    draft.records = []
    assert main(["evidence", str(draft.pack(tmp_path / "evidence.zip"))]) == 1
    out = capsys.readouterr().out
    assert out.count("records: records.pgn has no record of game") == 20
    assert "DIFFERS      records: 20 more\n" in out


def test_a_record_without_end_does_not_fill_the_memory(
    refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_RECORD", 5_000)
    draft: EvidenceDraft = ladder_draft(4)
    draft.records[2] += '[Event "x"]\n' + "1. a1 " * 2_000
    assert refused_at_the_end(refused, draft) == "a record has more than 5000 characters"


def refused_at_the_end(refused: Refused, draft: EvidenceDraft) -> str:
    place, _, said = refused(zipped(draft.packed().items())).partition(": ")
    assert place.startswith("records.pgn:")
    return said


def test_a_row_that_is_none_is_named_with_its_line(refused: Refused) -> None:
    draft = ladder_draft(4)
    draft.change("schedule.jsonl", 3, white="nobody")
    said = refused(zipped(draft.packed().items()))
    assert said.startswith("schedule.jsonl: game 'ladder-duovallis/2/1/2': 'nobody' is not NAME/NUMBER")


def test_a_game_of_an_unknown_event_is_refused(refused: Refused) -> None:
    draft = ladder_draft(4)
    draft.change("schedule.jsonl", 3, event="other")
    assert refused(zipped(draft.packed().items())).endswith("is of the unknown event 'other'")
