"""The default settings of a site, and those from the environment."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

ROOT = Path(__file__).parents[2]
SHOW = """
import json
from tournament import settings as s
print(json.dumps([s.SECRET_KEY, s.DEBUG, s.TRUST_UPLOADS, s.DATABASES["default"]["ENGINE"], s.ALLOWED_HOSTS]))
"""


def shown(data: Path, **environment: str) -> Any:
    """The settings of a fresh process."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DUARENA", "DATABASE"))}
    run = subprocess.run(
        [sys.executable, "-c", SHOW],
        cwd=ROOT,
        env={**kept, "DUARENA_DATA": str(data), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(run.stdout)


def test_a_secret_key_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    data = tmp_path / "new" / "folder"
    key, *others = shown(data)
    assert len(key) >= 50
    assert stat.S_IMODE((data / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in data.iterdir()] == ["secret_key"]
    assert shown(data)[0] == key
    assert others == [False, False, "django.db.backends.sqlite3", ["127.0.0.1", "localhost", "[::1]"]]


def test_settings_come_from_the_environment(tmp_path: Path) -> None:
    values = shown(
        tmp_path,
        DUARENA_SECRET_KEY="given",
        DUARENA_TRUST_UPLOADS="1",
        DUARENA_HOSTS="a.example, b.example",
        DATABASE_URL="postgres://u:p@host/db",
    )
    assert values == ["given", False, True, "django.db.backends.postgresql", ["a.example", "b.example"]]
    assert not (tmp_path / "secret_key").exists()


@pytest.mark.django_db
def test_pages_may_load_only_files_of_the_site(client: Client) -> None:
    headers = client.get("/admin/login/").headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
