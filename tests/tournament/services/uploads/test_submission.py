"""Uploads and validations."""

from __future__ import annotations

import io
import os
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import TestCase
from pytest_django import Settings

from engines.bots import SAMPLE_BOTS
from engines.bundles.manifest import INTERPRETERS
from engines.bundles.store import inspect_bundle, pack_bundle
from tests.support.schedule import make_user, make_version, pack_bot
from tournament.models import Bot, BotVersion, Bundle, Tournament
from tournament.services.bots.activity import activate
from tournament.services.results.withdrawal import delete_program, reinstate, withdraw
from tournament.services.uploads.submission import BundleError, submit_bundle
from tournament.services.uploads.validation import validate_waiting

pytestmark = pytest.mark.django_db


def stored(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_an_upload_becomes_a_version_with_its_bytes_kept(settings: Settings) -> None:
    data = pack_bot(more='[options]\nHash = "16"\n')
    version = submit_bundle(make_user(), io.BytesIO(data), notes="first")
    assert str(version) == "Stone Age v1"
    assert (version.label, version.command, version.games, version.options, version.notes) == (
        "1.2",
        ["python3", "main.py"],
        ["duploline"],
        {"Hash": "16"},
        "first",
    )
    assert version.bundle.path.read_bytes() == data
    assert stored(settings.BUNDLES) == [version.bundle.path]


def test_without_trust_a_version_waits_and_says_the_exact_command(settings: Settings) -> None:
    settings.IS_LOCAL = True
    version = submit_bundle(make_user(), pack_bot())
    assert version.state == BotVersion.State.WAITING
    assert "./arena up --port 8123 --trust-uploads" in version.state_reason
    assert not Tournament.objects.exists()
    assert validate_waiting() == 0


def test_versions_are_numbered_in_each_bot() -> None:
    ada = make_user()
    versions = [submit_bundle(ada, pack_bot(version=word)) for word in ("a", "b")]
    versions.append(submit_bundle(ada, pack_bot("STONE age", version="c")))
    assert [(v.bot.name, v.number) for v in versions] == [("Stone Age", n) for n in (1, 2, 3)]
    assert submit_bundle(ada, pack_bot("Bronze Age")).number == 1


def test_the_same_bytes_again_are_refused_naming_the_version() -> None:
    ada = make_user()
    submit_bundle(ada, pack_bot())
    with pytest.raises(BundleError, match="the same bytes are already 'Stone Age v1'"):
        submit_bundle(ada, pack_bot())
    assert BotVersion.objects.count() == 1


def test_an_interpreter_that_no_sandbox_shows_is_refused_naming_those_there_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Settings
) -> None:
    program = tmp_path / "lua"
    program.write_text("#!/bin/sh")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setitem(INTERPRETERS, "duarena-lua", True)
    program.rename(tmp_path / "duarena-lua")
    manifest = '[bot]\nname = "A"\nversion = "1"\ncommand = ["duarena-lua", "a.lua"]\ngames = ["duploline"]\n'
    bundle = pack_bundle({"bot.toml": manifest.encode(), "a.lua": b""})
    assert inspect_bundle(bundle).name == "A"
    with pytest.raises(
        BundleError, match=r"needs 'duarena-lua', which is not available here: there is python3\b"
    ):
        submit_bundle(make_user(), bundle)
    assert not stored(settings.BUNDLES)


def test_the_bundles_of_one_user_have_a_quota_whose_refusal_says_what_to_delete(settings: Settings) -> None:
    ada, bob = make_user(), make_user("bob")
    old, new = (submit_bundle(ada, pack_bot(version=word)) for word in ("a", "b"))
    for version in (old, new):
        BotVersion.objects.filter(pk=version.pk).update(state=BotVersion.State.VALID)
        activate(version)
    settings.MAX_STORED_BYTES = old.bundle.size + new.bundle.size
    with pytest.raises(BundleError, match=r"keeps 0 MB for one user: .* the oldest first: Stone Age v1$"):
        submit_bundle(ada, pack_bot(version="c"))
    assert submit_bundle(bob, pack_bot("Bronze Age"))
    assert withdraw(old, "its owner withdrew it")
    assert not delete_program(old), "its games are not ended"
    BotVersion.objects.update(has_games_to_end=False)
    with TestCase.captureOnCommitCallbacks(execute=True):
        assert delete_program(old)
    assert not delete_program(old)
    assert not delete_program(new), "it plays"
    assert not old.bundle.path.exists()
    assert new.bundle.path.exists()
    assert not reinstate(old)
    assert submit_bundle(ada, pack_bot(version="c")).number == 3
    ada.is_staff = True
    ada.save()
    assert submit_bundle(ada, pack_bot(version="d")).number == 4


def test_a_program_that_another_version_has_too_is_kept(settings: Settings) -> None:
    version = submit_bundle(make_user(), pack_bot())
    other = make_version("Bronze Age", owner=make_user("bob"))
    BotVersion.objects.update(state=BotVersion.State.WITHDRAWN, bundle=version.bundle)
    with TestCase.captureOnCommitCallbacks(execute=True):
        assert delete_program(version)
    assert version.bundle.path.exists()
    other.refresh_from_db()
    with TestCase.captureOnCommitCallbacks(execute=True):
        assert delete_program(other)
    assert not version.bundle.path.exists()


def test_a_user_has_no_more_than_so_many_versions_wait_at_a_time(settings: Settings) -> None:
    settings.MAX_PENDING = 2
    ada, bob = make_user(), make_user("bob")
    first = submit_bundle(ada, pack_bot(version="1"))
    second = submit_bundle(ada, pack_bot("Bronze Age"))
    BotVersion.objects.filter(pk=second.pk).update(state=BotVersion.State.VALIDATING)
    kept = stored(settings.BUNDLES)
    with pytest.raises(BundleError, match=r"2 versions of yours wait .* takes no more than 2 of one user"):
        submit_bundle(ada, pack_bot(version="3"))
    assert stored(settings.BUNDLES) == kept
    submit_bundle(bob, pack_bot("Iron Age"))
    BotVersion.objects.filter(pk=first.pk).update(state=BotVersion.State.REFUSED)
    assert submit_bundle(ada, pack_bot(version="3")).number == 2


@pytest.mark.parametrize("name", ["Stone Age", "sTONE aGE", "Ｓtone Age"])
def test_a_name_belongs_to_its_first_owner(name: str, settings: Settings) -> None:
    submit_bundle(make_user(), pack_bot())
    before = stored(settings.BUNDLES)
    with pytest.raises(BundleError, match="belongs to another owner's bot"):
        submit_bundle(make_user("bob"), pack_bot(name, version="other"))
    assert (stored(settings.BUNDLES), Bundle.objects.count(), Bot.objects.count()) == (before, 1, 1)


@pytest.mark.parametrize("name", ["㏙" * 40, "㎧" * 40])
def test_a_name_of_abbreviations_gets_an_address_that_fits(name: str) -> None:
    versions = [submit_bundle(make_user(who), pack_bot(name[n:])) for n, who in enumerate(("ann", "bob"))]
    assert all(len(version.bot.slug) <= 60 for version in versions)


def test_a_name_that_stands_for_whole_sentences_is_refused(settings: Settings) -> None:
    with pytest.raises(BundleError, match="some of its characters stand for whole words"):
        submit_bundle(make_user(), pack_bot("\ufdfa" * 40))
    assert (stored(settings.BUNDLES), Bot.objects.count()) == ([], 0)


def test_a_bot_of_the_site_is_nobodys_to_replace() -> None:
    make_version("Random", owner=None)
    with pytest.raises(BundleError, match="the name 'Random' belongs to another owner"):
        submit_bundle(make_user(), pack_bot("Random"))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "zip"),
        (b"no zip at all", "zip"),
        (pack_bot(games=["chess"]), "chess"),
        (pack_bot(more="[extra]\n"), "extra"),
    ],
)
def test_a_refused_bundle_stores_nothing(data: bytes, why: str, settings: Settings) -> None:
    with pytest.raises(BundleError, match=why):
        submit_bundle(make_user(), data)
    assert stored(settings.BUNDLES) == []
    assert not Bundle.objects.exists()
    assert not Bot.objects.exists()


def test_a_zip_too_large_is_refused_unread(settings: Settings) -> None:
    settings.MAX_BUNDLE_BYTES = 2**20
    for data in (bytes(2**20 + 1), io.BytesIO(bytes(2**20 + 1))):
        with pytest.raises(BundleError, match="larger than 1 MB"):
            submit_bundle(make_user(f"u{id(data)}"), data)


def test_the_samples_register_once_and_are_valid() -> None:
    told = StringIO()
    call_command("register_samples", stdout=told)
    call_command("register_samples", stdout=StringIO())
    versions = BotVersion.objects.select_related("bot")
    assert {v.bot.name for v in versions} == {sample.name for sample in SAMPLE_BOTS}
    assert told.getvalue().split("\n")[:-1] == [f"{sample.name} v1" for sample in SAMPLE_BOTS]
    for version in versions:
        assert (version.bot.owner, version.state) == (None, BotVersion.State.VALID)
        assert inspect_bundle(version.bundle.path.read_bytes()).command == ("python3", "main.py")
        assert version.activities.filter(enabled=True).count() == len(version.games)


def test_a_name_that_looks_like_another_bot_s_is_refused_and_an_old_one_stays() -> None:
    owner = make_user()
    make_version("Random", owner=None)
    make_version("Greedy", owner=None)
    with pytest.raises(BundleError, match="looks like that of the bot 'Random'"):
        submit_bundle(owner, pack_bot("R\u0430ndom"))
    Bot.objects.register(owner, "Gree\u0501y")
    submit_bundle(owner, pack_bot("Gree\u0501y"))
