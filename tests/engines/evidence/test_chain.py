"""Revisions: each names the one before, and old ones are not taken for new ones."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from engines.__main__ import main
from engines.evidence.format import MANIFEST, SIGNATURE, CorrectionEffect, EvidenceCorrection
from engines.evidence.signatures import SIGNERS_PATH
from tests.support.evidence import AT, SIGNERS, Differences, EvidenceDraft, ladder_draft, lines_of
from tests.support.fake_site import Files
from tests.support.servers import LocalServer
from tests.support.ssh_keygen import put_in_path
from tournament.services.signing import public_text


@pytest.fixture
def old() -> EvidenceDraft:
    return ladder_draft(4)


def next_of(old: EvidenceDraft) -> EvidenceDraft:
    """A next revision with the same content."""
    new = ladder_draft(4)
    new.revision, new.previous = 2, hashlib.sha256(old.packed()[MANIFEST]).hexdigest()
    return new


def compare(
    new: EvidenceDraft, old: EvidenceDraft, folder: Path, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    """The line about the revision."""
    files = [str(one.pack(folder / f"{name}.zip")) for name, one in (("new", new), ("old", old))]
    main(["evidence", files[0], "--previous", files[1]])
    out = capsys.readouterr().out
    return [line for line in out.splitlines() if " revision: " in line]


def test_a_revision_follows_the_one_before(
    old: EvidenceDraft, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (line,) = compare(next_of(old), old, tmp_path, capsys)
    assert line.startswith("ok           revision: revision 2 follows 1, and no record has changed: ")


def test_without_the_one_before_it_is_not_checked(old: EvidenceDraft, tmp_path: Path) -> None:
    assert main(["evidence", str(next_of(old).pack(tmp_path / "new.zip"))]) == 3


def test_an_old_revision_is_not_taken_for_the_newest(
    old: EvidenceDraft, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = next_of(old)
    (line,) = compare(old, new, tmp_path, capsys)
    assert line.startswith("DIFFERS      revision: revision 1 is older than ")
    (line,) = compare(new, new, tmp_path, capsys)
    assert line.endswith("is the same revision, 2")


def test_another_revision_before_is_named(
    old: EvidenceDraft, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = next_of(old)
    old.rows["corrections.jsonl"].append(EvidenceCorrection("x", CorrectionEffect.RATED, "", AT))
    (line,) = compare(new, old, tmp_path, capsys)
    assert line.startswith(f"DIFFERS      revision: it names the previous manifest {new.previous}, ")


def test_a_record_that_changed_since_is_named(
    old: EvidenceDraft, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = next_of(old)
    new.records[3] = new.records[3].replace("2026.11.29", "2026.11.28")
    (line,) = compare(new, old, tmp_path, capsys)
    assert line.endswith("records.pgn does not begin with the records of revision 1, which never change")


def test_a_gap_in_the_chain_is_not_checked(
    old: EvidenceDraft, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = next_of(old)
    new.revision = 4
    assert compare(new, old, tmp_path, capsys)[0] == (
        "not checked  revision: 2 revisions between 1 and 4 are not given"
    )


def test_the_evidence_of_another_ladder_is_none(
    old: EvidenceDraft, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = next_of(old)
    old.name = "dualma"
    old.document = replace(old.document, ladders=())
    assert (
        "name is 'duovallis', that of the previous revision 'dualma'"
        in compare(new, old, tmp_path, capsys)[0]
    )


def test_only_the_first_revision_has_none_before(
    old: EvidenceDraft, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old.revision = 2
    assert main(["evidence", str(old.pack(tmp_path / "a.zip"))]) == 1
    assert lines_of(capsys.readouterr().out, "DIFFERS") == [
        "revision: manifest.json: revision 2 with the previous None"
    ]


def test_an_archive_is_fetched_from_a_site(
    old: EvidenceDraft, tmp_path: Path, signers: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    old.pack(tmp_path / "evidence.zip")
    (tmp_path / ".well-known" / "duarena").mkdir(parents=True)
    with LocalServer(partial(Files, directory=str(tmp_path))) as site:
        assert main(["evidence", f"{site.url}/evidence.zip"]) == 3
        Path(signers[1]).rename(tmp_path / SIGNERS_PATH[1:])
        assert main(["evidence", f"{site.url}/evidence.zip"]) == 0
        assert main(["evidence", f"{site.url}/other.zip"]) == 2
    assert capsys.readouterr().err == f"{site.url}/other.zip cannot be fetched: status 404\n"


def test_the_manifest_of_the_one_before_is_enough_for_the_chain(
    old: EvidenceDraft, tmp_path: Path, signers: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "manifest.json").write_bytes(old.packed()[MANIFEST])
    new = next_of(old).pack(tmp_path / "new.zip")
    assert main(["evidence", str(new), "--previous", str(tmp_path / "manifest.json"), *signers]) == 0
    assert "revision 2 follows 1, whose manifest alone is given" in capsys.readouterr().out


# Signatures


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The option with the keys of the site; ``ssh-keygen`` runs."""
    put_in_path(tmp_path, monkeypatch)
    (tmp_path / "keys").write_text(SIGNERS)
    return ["--signers", str(tmp_path / "keys")]


def test_a_signature_is_checked_with_the_keys_of_the_site(
    old: EvidenceDraft, keys: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = old.pack(tmp_path / "evidence.zip")
    assert main(["evidence", str(path), *keys]) == 0
    assert "ok           signature: the manifest is signed by duarena.example" in capsys.readouterr().out
    old.more[SIGNATURE] = old.packed()[SIGNATURE]
    old.change("workers.jsonl", 0, release="2")  # and its manifest with it
    assert main(["evidence", str(old.pack(path)), *keys]) == 1
    assert lines_of(capsys.readouterr().out, "DIFFERS")[0].startswith("signature: manifest.json.sig: ")


@pytest.mark.parametrize(
    ("is_signed", "said"),
    [
        (True, "give the keys of the site, from its /.well-known/duarena/allowed_signers, with --signers"),
        (False, "there is no manifest.json.sig: nobody vouches for it"),
    ],
)
def test_without_keys_or_signature_it_is_not_said_that_all_agrees(
    old: EvidenceDraft, is_signed: bool, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old.is_signed = is_signed
    assert main(["evidence", str(old.pack(tmp_path / "evidence.zip"))]) == 3
    assert lines_of(capsys.readouterr().out, "not checked") == [f"signature: {said}"]


def test_a_signature_that_was_taken_away_is_missed(old: EvidenceDraft, differences: Differences) -> None:
    old.is_signed = False
    assert differences(old) == ["signature: there is no manifest.json.sig: nobody vouches for it"]


def test_without_ssh_keygen_the_signature_is_not_checked(
    old: EvidenceDraft, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    (tmp_path / "keys").write_text(SIGNERS)
    path = old.pack(tmp_path / "evidence.zip")
    assert main(["evidence", str(path), "--signers", str(tmp_path / "keys")]) == 3
    assert "not checked  signature: ssh-keygen is not installed here" in capsys.readouterr().out


def test_the_key_of_somebody_else_is_none(
    old: EvidenceDraft, keys: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = public_text(Ed25519PrivateKey.generate())
    (tmp_path / "keys").write_text(f'duarena.example namespaces="duarena" {other}\n')
    assert main(["evidence", str(old.pack(tmp_path / "evidence.zip")), *keys]) == 1
    assert lines_of(capsys.readouterr().out, "DIFFERS")[0].startswith("signature: manifest.json.sig: no key")


def test_the_key_of_another_site_in_the_list_is_named(
    old: EvidenceDraft, keys: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "keys").write_text(SIGNERS.replace("duarena.example", "other.example"))
    assert main(["evidence", str(old.pack(tmp_path / "evidence.zip")), *keys]) == 3
    (said,) = lines_of(capsys.readouterr().out, "not checked")
    assert said.startswith(
        "signature: the manifest is signed by other.example, not 'https://duarena.example'"
    )
