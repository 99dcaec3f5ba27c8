"""The default settings of a site, and those from the environment."""

from __future__ import annotations

import gzip
import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SHOW = """
import json
from tournament import settings as s
print(json.dumps([s.SECRET_KEY, s.DEBUG, s.TRUST_UPLOADS, s.DATABASES["default"]["ENGINE"], s.ALLOWED_HOSTS,
    s.DATABASES["default"]["OPTIONS"]]))
"""
HOST_NAMES = "a list of host names with commas between them, without http:// and paths"
NO_ADDRESS = (
    "This string is not a valid url, possibly because some of its parts is not properly"
    " urllib.parse.quote()'ed."
)
A_DATABASE = "the address of a database: postgres://user:password@host/name, or sqlite:///path"


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


def test_a_secret_key_is_made_once_for_a_site_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    data = tmp_path / "new" / "folder"
    key, *others = shown(data)
    assert len(key) >= 50
    assert not data.exists(), "the settings alone make no site"
    assert others[:4] == [False, False, "django.db.backends.sqlite3", ["127.0.0.1", "localhost", "[::1]"]]
    data.mkdir(parents=True)
    (data / ".duarena").write_text("postgresql")
    key = shown(data, DATABASE_URL="postgres://u:p@host/db")[0]
    assert stat.S_IMODE((data / "secret_key").stat().st_mode) == 0o600
    assert {path.name for path in data.iterdir()} == {".duarena", "secret_key"}
    assert shown(data, DATABASE_URL="postgres://u:p@host/db")[0] == key


def test_settings_come_from_the_environment(tmp_path: Path) -> None:
    values = shown(
        tmp_path,
        DUARENA_SECRET_KEY="given",
        DUARENA_TRUST_UPLOADS="1",
        DUARENA_SITE=" https://a.example ",
        DUARENA_HOSTS=" , a.example, b.example ,",
        DATABASE_URL="postgres://u:p@host/db",
    )
    assert values[:-1] == ["given", False, True, "django.db.backends.postgresql", ["a.example", "b.example"]]
    assert not (tmp_path / "secret_key").exists()


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("DUARENA_TRUST_UPLOADS", "maybe", "DUARENA_TRUST_UPLOADS='maybe' is not 1 or 0"),
        ("DUARENA_SLOTS", "two", "DUARENA_SLOTS='two' is not a whole number of 1 or more"),
        ("DUARENA_MAX_RUNNING", "-1", "DUARENA_MAX_RUNNING='-1' is not a whole number of 0 or more"),
        ("DUARENA_SLOT_HOURS", "12h", "DUARENA_SLOT_HOURS='12h' is not a number of 0 or more"),
        ("DUARENA_SLOT_HOURS", "nan", "DUARENA_SLOT_HOURS='nan' is not a number of 0 or more"),
        ("DUARENA_SANDBOX", "C", "DUARENA_SANDBOX='C' is not A or B"),
        ("DUARENA_SLOTS", "0", "DUARENA_SLOTS='0' is not a whole number of 1 or more"),
        ("DUARENA_MAX_BUNDLE_MB", "0", "DUARENA_MAX_BUNDLE_MB='0' is not a whole number of 1 or more"),
        ("DUARENA_LEASE", "0", "DUARENA_LEASE='0' is not a whole number of 1 or more"),
        ("DUARENA_LOG", "xml", "DUARENA_LOG='xml' is not json or text"),
        ("DUARENA_PROXY", "a b", "DUARENA_PROXY='a b' is not an IP address or *"),
        (
            "DUARENA_SITE",
            "a.example",
            "DUARENA_SITE='a.example' is not an address that begins with http:// or https://",
        ),
        (
            "DUARENA_SOURCE_URL",
            "git@a",
            "DUARENA_SOURCE_URL='git@a' is not an address that begins with http:// or https://",
        ),
        (
            "DUARENA_HOSTS",
            "https://a",
            f"DUARENA_HOSTS='https://a' is not {HOST_NAMES}",
        ),
        (
            "DUARENA_WORKER_TOKEN",
            "x",
            "DUARENA_WORKER_TOKEN is not a worker token: duarena_ and 32 characters or more, without spaces",
        ),
        (
            "DUARENA_SENTRY_DSN",
            "x",
            "DUARENA_SENTRY_DSN is not the DSN of a project of Sentry: https://key@host/number",
        ),
        (
            "DATABASE_URL",
            "nonsense",
            f"DATABASE_URL is not {A_DATABASE}",
        ),
        (
            "DATABASE_URL",
            "mysql://u:secret@h/n",
            f"DATABASE_URL is not {A_DATABASE}",
        ),
        (
            "DATABASE_URL",
            "postgres://u:secret@h:port/n",
            f"DATABASE_URL: {NO_ADDRESS}",
        ),
        (
            "REDIS_URL",
            "localhost:6379",
            "REDIS_URL is not the address of a Redis: redis://, rediss:// or redis+socket://",
        ),
        ("DUARENA_MAIL_HOST", "mail:smtp", "DUARENA_MAIL_HOST: 'smtp' is not the number of a port"),
    ],
)
def test_a_bad_value_ends_every_command_with_a_sentence(
    tmp_path: Path, name: str, value: str, sentence: str
) -> None:
    run = manage(tmp_path, "check", **{name: value})
    assert (run.returncode, run.stderr) == (1, f"duarena: {sentence}\n")


def test_a_variable_that_is_no_setting_is_named_with_the_one_that_is_meant(tmp_path: Path) -> None:
    run = manage(tmp_path, "check", DUARENA_SLOT="2", DUARENA_TAKES="games", DUARENA_HTTPS="444")
    assert run.returncode == 0
    assert run.stderr.splitlines()[0] == "duarena: DUARENA_SLOT is no setting; perhaps DUARENA_SLOTS is meant"
    assert run.stderr.count("no setting") == 1


def test_an_empty_variable_has_its_default_and_a_removed_one_is_named(tmp_path: Path) -> None:
    run = manage(tmp_path, "check", DUARENA_SLOTS="", DUARENA_MAX_DRAFTS="20")
    assert run.returncode == 0
    assert run.stderr.startswith(
        "duarena: DUARENA_MAX_DRAFTS is no longer read: the site uses its former default\n"
    )


@pytest.mark.django_db
def test_a_database_server_that_is_cut_off_is_noticed_and_the_address_may_say_when(tmp_path: Path) -> None:
    address = "postgres://u:p@host/db"
    options, others = (
        shown(tmp_path, DATABASE_URL=url)[-1] for url in (address, f"{address}?connect_timeout=3")
    )
    assert (options["connect_timeout"], options["tcp_user_timeout"]) == (10, 60_000)
    assert others == options | {"connect_timeout": others["connect_timeout"]}
    assert int(others["connect_timeout"]) == 3


def test_pages_may_load_only_files_of_the_site(client: Client) -> None:
    headers = client.get("/admin/login/").headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"


def manage(data: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DUARENA", "DATABASE"))}
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env={**kept, "DUARENA_DATA": str(data), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_site_with_https_passes_django_s_check_for_deployment(tmp_path: Path) -> None:
    words = ("check", "--deploy", "--fail-level=WARNING")
    run = manage(tmp_path, *words, DUARENA_SITE="https://a.example", DUARENA_HOSTS="a.example")
    assert run.returncode == 0, run.stderr
    assert manage(tmp_path, *words).returncode == 1


FETCH = """
import re
from django.test import Client
page = Client().get("/log-in/", headers={"Host": "localhost"}).content.decode()
for address in re.findall(r'"(/static/[^"]+)"', page):
    response = Client().get(address, headers={"Host": "localhost", "Accept-Encoding": "gzip"})
    print(address, response.status_code, response["Cache-Control"], response.get("Content-Encoding"))
"""


def test_collected_files_have_hashed_names_and_are_kept_for_a_year(tmp_path: Path) -> None:
    static = tmp_path / "static"
    environment = {"DUARENA_STATIC": str(static)}
    collected = manage(tmp_path, "collectstatic", "--no-input", "-v0", **environment)
    assert collected.returncode == 0, collected.stderr
    run = manage(tmp_path, "shell", "-v0", "-c", FETCH, **environment)
    lines = run.stdout.splitlines()
    assert len(lines) > 3, run.stderr
    for line in lines:
        assert re.fullmatch(r"/static/\S+\.[0-9a-f]{12}\S* 200 max-age=\d{9}, public, immutable gzip", line)
    (history,) = static.glob("history.????????????.js")
    assert re.search(r'"./times\.[0-9a-f]{12}\.js"', history.read_text())
    (live,) = static.glob("live.????????????.js")  # imports another when it is needed
    assert re.search(r'import\("./parts\.[0-9a-f]{12}\.js"\)', live.read_text())
    assert "// " not in history.read_text()
    compressed = gzip.decompress(history.with_name(f"{history.name}.gz").read_bytes()).decode()
    assert compressed == history.read_text()
