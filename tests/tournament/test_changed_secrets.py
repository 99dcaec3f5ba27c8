"""Every secret of a site can be changed as docs/operations.md says."""

from __future__ import annotations

import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from django.contrib.auth.tokens import default_token_generator
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from tests.support.brokers import running_redis
from tests.support.schedule import make_user
from tests.support.service_processes import find_port
from tests.support.sites import SiteData
from tournament.embedded.plan import ROOT
from tournament.embedded.processes.redis_server import answers
from tournament.services.accounts.tokens import create_token, find_token


@pytest.mark.django_db
def test_another_secret_key_ends_sessions_and_links_and_keeps_passwords_factors_and_tokens(
    settings: Settings,
) -> None:
    stan = make_user("stan", staff=True)
    secret = generate_totp_secret()
    TOTP.activate(stan, secret)
    browser = Client()
    browser.force_login(stan)
    link, text = default_token_generator.make_token(stan), create_token(stan, "", ["logs:read"])[1]

    assert browser.get("/account/").status_code == 200
    assert find_token(text, timezone.now())
    settings.SECRET_KEY = secrets.token_urlsafe(50)
    assert browser.get("/account/").status_code == 302
    assert not default_token_generator.check_token(stan, link)
    code = format_hotp_value(hotp_value(secret, int(time.time()) // 30))
    assert Authenticator.objects.get().wrap().validate_code(code)
    assert find_token(text, timezone.now())
    again = Client()
    again.force_login(stan)
    assert again.get("/account/").status_code == 200


@pytest.mark.slow
def test_a_deleted_secret_key_is_made_anew(tmp_path: Path) -> None:
    site = SiteData(tmp_path / "data")
    before = (site.data / "secret_key").read_text()
    (site.data / "secret_key").unlink()
    assert site.manage("check").startswith("System check identified no issues")
    assert (site.data / "secret_key").read_text() not in {before, ""}


def test_another_password_of_redis_shuts_the_old_one_out_and_keeps_the_messages() -> None:
    port = find_port("127.0.0.1", 21870)
    old, new = (f"redis://:{word}@127.0.0.1:{port}/0" for word in ("old", "new"))
    with running_redis(None, "--port", str(port), "--bind", "127.0.0.1") as socket:
        operator = redis.Redis(unix_socket_path=str(socket))
        operator.config_set("requirepass", "old")
        with redis.Redis.from_url(old) as client:
            client.lpush("keeper", "a message")
        operator.config_set("requirepass", "new")
        assert (answers(old), answers(new)) == (False, True)
        with redis.Redis.from_url(new) as client:
            assert client.llen("keeper") == 1


@contextmanager
def role_with_password(server: str, name: str, password: str) -> Iterator[str]:
    """A database of a role that must give its password; yields the address with it."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{password}'")
        connection.execute(f"CREATE DATABASE {name} OWNER {name}")
        (found,) = connection.execute("SHOW hba_file").fetchone() or ("",)
        file = Path(found)
        before = file.read_text()
        file.write_text(f"local all {name} scram-sha-256\n{before}")
        connection.execute("SELECT pg_reload_conf()")
        try:
            parts = urlsplit(server)
            yield parts._replace(netloc=f"{name}:{password}@", path=f"/{name}").geturl()
        finally:
            file.write_text(before)
            connection.execute("SELECT pg_reload_conf()")
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
            connection.execute(f"DROP ROLE {name}")


@pytest.mark.thorough
def test_another_password_of_postgresql_shuts_the_old_one_out_and_keeps_the_site(
    tmp_path: Path, postgres: str
) -> None:
    site = SiteData(tmp_path / "data", migrate=False)
    with role_with_password(postgres, "rotated", "old") as address:
        site.environment["DATABASE_URL"] = address
        site.manage("migrate", "-v0")
        site.run("from django.contrib.auth.models import Group; Group.objects.create(name='kept')")
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("ALTER ROLE rotated PASSWORD 'new'")
        words = (sys.executable, "-m", "tournament.embedded", "admin", "ada")
        refused = subprocess.run(
            words,
            cwd=ROOT,
            env=site.environment,
            input="a long secret\n",
            capture_output=True,
            text=True,
            check=False,
        )
        assert refused.returncode == 2
        assert 'password authentication failed for user "rotated"' in refused.stderr
        assert refused.stderr.count("\n") == 1
        site.environment["DATABASE_URL"] = address.replace("rotated:old@", "rotated:new@")
        shown = site.run("from django.contrib.auth.models import Group; print(Group.objects.get())")
        assert shown == "kept\n"
