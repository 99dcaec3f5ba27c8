"""One estimate of two sites, which bundles of both connect."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.__main__ import main
from tests.support import evidence
from tests.support.evidence import ladder_draft


def test_bundles_of_both_sites_are_one_player(
    tmp_path: Path,
    signers: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = ladder_draft().pack(tmp_path / "one.zip")
    monkeypatch.setattr(evidence, "SITE", "https://other.example")
    draft = ladder_draft(20)
    draft.change("versions.jsonl", 0, bundle_sha256="f" * 64)
    two = draft.pack(tmp_path / "two.zip")
    assert main(["merge", str(one), str(two)]) == 3
    assert capsys.readouterr().out.count("not checked  signature: give the keys of the site") == 2
    assert main(["merge", str(one), str(two), *signers]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if "±" in line]
    assert len(rows) == 6
    assert [line for line in rows if "(1 sites)" in line and "Greedy/1" in line] == [
        line for line in rows if "Greedy/1" in line
    ]
    assert any(line.startswith("     +0 ± ") and "Random/1 (2 sites)" in line for line in rows)


def test_the_games_of_a_site_count_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    older, newer = (ladder_draft(pairs).pack(tmp_path / f"{pairs}.zip") for pairs in (4, 6))
    assert main(["merge", str(older), str(newer)]) == 2
    assert capsys.readouterr().err == "two of these are of one site, whose games would count twice\n"


def test_sites_without_a_common_bundle_are_not_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = ladder_draft(4).pack(tmp_path / "one.zip")
    monkeypatch.setattr(evidence, "SITE", "https://other.example")
    draft = ladder_draft(4)
    for number in range(len(draft.rows["versions.jsonl"])):
        draft.change("versions.jsonl", number, bundle_sha256=f"{number:064x}", published=False)
    draft.bundles = []
    assert main(["merge", str(one), str(draft.pack(tmp_path / "two.zip"))]) == 2
    assert capsys.readouterr().err == "no bundle has played on two of the sites: nothing connects them\n"
