"""A scripted site, and the commands of ``python -m engines`` run in this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from engines.__main__ import main
from tests.support.scripted_site import ScriptedSite, scripted_site

TOKEN = "duarena_secret"


@pytest.fixture
def site() -> Iterator[ScriptedSite]:
    with scripted_site() as site:
        yield site


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


class Run(Protocol):
    def __call__(self, *words: str, token: str = TOKEN) -> Done: ...


@pytest.fixture
def run(
    site: ScriptedSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """A command that asks the site again at once, in a folder of its own."""
    for name in os.environ:
        if name.startswith(("DUARENA_", "GITHUB_")):
            monkeypatch.delenv(name)
    for name in ("validation", "version_test"):
        monkeypatch.setattr(f"engines.client.{name}.POLL_SECONDS", 0.01)
    monkeypatch.setattr("engines.client.site_client.PAUSES", (0.01, 0.02))
    monkeypatch.chdir(tmp_path)

    def run(*words: str, token: str = TOKEN) -> Done:
        monkeypatch.setenv("DUARENA_SITE", site.address)
        monkeypatch.setenv("DUARENA_TOKEN", token)
        try:
            code = main([*words])
        except SystemExit as ended:
            code = int(ended.code or 0)
        return Done(code, *capsys.readouterr())

    return run
