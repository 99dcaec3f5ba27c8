"""Fixtures: the command on a draft of evidence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engines.__main__ import main
from tests.support.evidence import SIGNERS, Checked, Differences, EvidenceDraft, lines_of, verify


@pytest.fixture
def signers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The option with the keys of the site, whose signatures are compared without ``ssh-keygen``."""
    monkeypatch.setattr("engines.evidence.command.check_signature", verify)
    path = tmp_path / "signers"
    path.write_text(SIGNERS)
    return ["--signers", str(path)]


@pytest.fixture
def checked(tmp_path: Path, signers: list[str], capsys: pytest.CaptureFixture[str]) -> Checked:
    """Packs a draft and runs the command on it."""

    def run(draft: EvidenceDraft, **more: Callable[[dict[str, bytes]], object]) -> tuple[int, str]:
        code = main(["evidence", str(draft.pack(tmp_path / "evidence.zip", **more)), *signers])
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return run


@pytest.fixture
def differences(checked: Checked) -> Differences:
    """The lines of the differences of an archive that has some."""

    def run(draft: EvidenceDraft, **more: Callable[[dict[str, bytes]], object]) -> list[str]:
        code, out = checked(draft, **more)
        found = lines_of(out, "DIFFERS")
        assert (code, bool(found)) == (1, True), out
        return found

    return run
