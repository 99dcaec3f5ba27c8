"""The example trains an agent, packs a bot without faults, and uploads it."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from engines.bundles.store import inspect_bundle
from tests.support.servers import LocalServer, QuietHandler
from tournament.embedded.plan import ROOT

pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: requirements-dev.txt")

REFUSAL = b'{"ok": false, "error": "Not now."}'


def run(*words: str, folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: text for name, text in os.environ.items() if not name.startswith("DUARENA_")}
    variables = {**clean, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(
        (sys.executable, "-m", *words), cwd=folder, env=variables, capture_output=True, text=True, check=False
    )


def test_the_bundle_of_a_few_games_has_no_fault_and_is_uploaded(tmp_path: Path) -> None:
    received: list[bytes] = []

    class Handler(QuietHandler):
        def answer(self) -> None:
            received.append(self.body())
            is_site = self.path == "/api/v1/token/"
            self.reply(200 if is_site else 403, b'{"ok": true}' if is_site else REFUSAL)

    bundle = tmp_path / "agent.zip"
    with LocalServer(Handler) as server:
        words = ("engines.environments.first_agent", "--games", "3", "--tests", "2", "--out", str(bundle))
        told = run(*words, DUARENA_SITE=server.url, DUARENA_TOKEN="duarena_x")
    assert f"of 100 points against random moves\nwrote {bundle}\n" in told.stdout, told.stderr
    assert (told.returncode, "Not now." in told.stdout + told.stderr) == (2, True)
    assert any(bundle.read_bytes() in body for body in received), told.stderr
    assert inspect_bundle(bundle.read_bytes()).games == ("dogon-kulei",)
    with zipfile.ZipFile(io.BytesIO(bundle.read_bytes())) as archive:
        archive.extractall(tmp_path / "bot")
    checked = run("workers", "check", "--", "python3", "main.py", folder=tmp_path / "bot")
    assert "First Agent: no fault in " in checked.stdout, checked.stdout
