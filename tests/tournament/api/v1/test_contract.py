"""The interface for programs keeps to its OpenAPI document: schemathesis asks a site that is served.

`schemathesis.toml` has the checks. Values of one answer, such as slugs, are taken for later requests.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from django.core.servers.basehttp import WSGIRequestHandler
from pytest_django.live_server_helper import LiveServer

from tests.support import effort
from tests.support.filled_site import Site
from tests.support.whole_site import fill_whole_site
from tournament.api.limits import RowLimits
from tournament.models import Token
from tournament.services.accounts import tokens
from tournament.services.accounts.tokens import create_token

CONFIG: Final = Path(__file__).with_name("schemathesis.toml")
FEW: Final = "5"
MANY: Final = os.environ.get("CONTRACT_EXAMPLES", "10")
"""Random requests to each operation, half of them wrong."""


@pytest.fixture
def whole_site(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Site:
    """The site with something in every list, which takes any number of requests."""
    monkeypatch.setattr(WSGIRequestHandler, "disable_nagle_algorithm", True)  # else each answer takes 40 ms
    monkeypatch.setattr(RowLimits, "wait_s", lambda *_: 0.0)
    monkeypatch.setattr(tokens, "MAX_ALLOWED", 1e9)
    monkeypatch.setattr(tokens, "ALLOWED_A_SECOND", 1e9)
    return fill_whole_site()


@pytest.mark.slow
def test_every_operation_answers_as_its_document_says(
    live_server: LiveServer, whole_site: Site, tmp_path: Path
) -> None:
    """In a complete run also at the bounds of each value."""
    some = ("--phases=fuzzing", f"--max-examples={FEW}")
    options = (f"--max-examples={MANY}",) if effort.MODE == "all" else some
    run(live_server, whole_site, tmp_path, *options)


def run(server: LiveServer, site: Site, folder: Path, *options: str) -> None:
    """Run schemathesis with the token of a member of the staff that may do everything."""
    _, token = create_token(site.staff, "contract", Token.Scope.values)
    document = f"{server.url}/api/v1/openapi.json"
    done = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIG), "run", document, *options],
        cwd=folder,
        env={
            **os.environ,
            "DUARENA_TOKEN": token,
            "HYPOTHESIS_STORAGE_DIRECTORY": str(folder),
            "NO_COLOR": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout)
    assert done.returncode == 0, done.stderr
