"""The kit and the example bot, as a player downloads them from the site."""

from __future__ import annotations

import datetime
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy
import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from engines.bundles.store import inspect_bundle
from engines.evidence.signatures import SIGNERS_PATH
from engines.formats import FORMATS
from engines.rules.registry import GAMES
from tests.support.documents import blocks
from tests.support.filled_site import Site
from tests.support.played_evidence import make_evidence, play_event, published_version
from tests.support.schedule import LADDER, make_user, make_version
from tests.support.ssh_keygen import put_in_path
from tournament import kit
from tournament.models import BotVersion, Game
from tournament.services.annulments import annul
from tournament.services.results.rebuilding import rebuild_outdated
from tournament.services.uploads.submission import submit_bundle

pytestmark = pytest.mark.django_db
DEADLINE_SECONDS = 120
IMPORT_ALL = """\
import importlib, pathlib
packages = {pathlib.Path("engines/environments", name) for name in ("aec.py", "first_agent.py", "spiel.py")}
packages |= {*pathlib.Path("engines/estimation").glob("*.py")}
for path in sorted(pathlib.Path().rglob("*.py")):
    if path.parts[0] in ("engines", "workers") and path.name != "__main__.py" and path not in packages:
        importlib.import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
"""


@pytest.fixture
def plain_python(tmp_path: Path) -> dict[str, str]:
    """The environment of a shell whose ``python3`` sees no package but the standard library."""
    program = tmp_path / "programs" / "python3"
    program.parent.mkdir()
    base = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    program.write_text(f'#!/bin/sh\nexec {base} -s -S "$@"\n')
    program.chmod(0o755)
    return {"PATH": f"{program.parent}{os.pathsep}{os.defpath}", "HOME": str(tmp_path)}


@pytest.fixture
def downloads(tmp_path: Path, client: Client) -> Path:
    """An empty folder with the kit's zip, as the site serves it."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    response = client.get("/kit/duarena-kit.zip")
    assert response["Content-Type"] == "application/zip"
    assert response["Content-Disposition"] == 'attachment; filename="duarena-kit.zip"'
    (folder / "duarena-kit.zip").write_bytes(response.content)
    return folder


def run(line: str, folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        ["/bin/sh", "-ec", line],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_commands_of_the_page_run_with_python_alone(
    downloads: Path, plain_python: dict[str, str]
) -> None:
    unpack, enter, perft, check, match = blocks("engines/README.md", "shell")[0].splitlines()
    run(unpack, downloads, plain_python)
    folder = downloads / "duarena-kit"
    assert enter == f"cd {folder.name}"
    assert run(perft, folder, plain_python) == "4882\n"
    assert "First Move: no fault in " in run(check, folder, plain_python)
    table = run(match, folder, plain_python)
    assert {"First", "Random"} <= set(table.split())


@pytest.mark.slow
def test_the_bot_of_the_page_for_assistants_passes_the_check_and_is_packed_for_an_upload(
    downloads: Path, plain_python: dict[str, str]
) -> None:
    page = "engines/ASSISTANT.md"
    run("python3 -m zipfile -e duarena-kit.zip duarena-kit", downloads, plain_python)
    folder = downloads / "duarena-kit"
    (folder / "my-bot").mkdir()
    for name, language in (("main.py", "python"), ("bot.toml", "toml")):
        (folder / "my-bot" / name).write_text(blocks(page, language)[0], encoding="utf-8")
    check, match = blocks(page, "shell")[0].splitlines()
    assert "My Bot: no fault in " in run(check, folder, plain_python)
    assert {"Mine", "Random"} <= set(run(match, folder, plain_python).split())
    run(blocks(page, "sh")[0], folder, plain_python)
    found = inspect_bundle((folder / "my-bot.zip").read_bytes())
    assert (found.name, set(found.games)) == ("My Bot", set(GAMES))


def test_every_module_of_the_kit_needs_only_the_standard_library(
    downloads: Path, plain_python: dict[str, str]
) -> None:
    with zipfile.ZipFile(downloads / "duarena-kit.zip") as archive:
        archive.extractall(downloads)
    run(f"python3 -c '{IMPORT_ALL}'", downloads, plain_python)
    usage = run("python3 -m workers --help", downloads, plain_python)
    assert "\n  check " in usage
    assert "\n  start " not in usage


def evidence_of_everything(client: Client, folder: Path) -> list[str]:
    """The archives of an event of each format with an annulled game, and of their ladder, by their names."""
    for seed, kind in enumerate(FORMATS):  # so that no game repeats one of another event
        versions = list(BotVersion.objects.filter(number=1))
        cup = play_event(kind, name=kind, versions=versions, opening_plies=4, seed=seed)
        annul(Game.objects.filter(pk=cup.games.earliest("pk").pk), "Its clock was wrong.", timezone.now())
    Game.objects.update(
        finished_at=timezone.now() - datetime.timedelta(days=32)
    )  # the ladder's month is over
    rebuild_outdated()
    make_evidence()
    addresses = {kind: f"/tournaments/{kind}/evidence.zip" for kind in FORMATS}
    addresses["ladder"] = f"/ladders/{LADDER}/evidence.zip"
    for name, address in addresses.items():
        (folder / f"{name}.zip").write_bytes(client.get(address).getvalue())
    (folder / "signers").write_bytes(client.get(SIGNERS_PATH).content)
    return list(addresses)


@pytest.mark.slow
def test_evidence_is_checked_in_an_empty_folder_with_python_alone_and_with_packages(
    downloads: Path, plain_python: dict[str, str], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_ssh_keygen = shutil.which("ssh-keygen") is not None
    if has_ssh_keygen:
        put_in_path(downloads.parent / "programs", monkeypatch)
    published_version("Open")
    for number in range(3):
        make_version(f"Bot {number}", owner=make_user(f"user{number}"))
    names = evidence_of_everything(client, downloads)
    run("python3 -m zipfile -e duarena-kit.zip kit", downloads, plain_python)
    packages = downloads.parent / "packages"
    packages.mkdir()
    for path in Path(numpy.__file__).parents[1].glob("n[eu][tm][wp]*"):
        (packages / path.name).symlink_to(path)
    without = {
        "swiss": "schedule: Swiss pairing needs the package networkx, which this Python does not have",
        "ladder": "estimate: it needs the package numpy, which this Python does not have",
    }
    signature = [] if has_ssh_keygen else ["signature: ssh-keygen is not installed here"]
    for name in names:
        for more, missing in ({}, without.get(name)), ({"PYTHONPATH": str(packages)}, None):
            not_checked = signature + ([missing] if missing else [])
            line = f"cd kit; python3 -m engines evidence ../{name}.zip --signers ../signers --json"
            found = json.loads(run(f"{line} || test $? != 1", downloads, plain_python | more))
            texts = {f"{one['name']}: {one['text']}": one["state"] for one in found["checks"]}
            assert [text for text, state in texts.items() if state != "ok"] == not_checked
            assert found["exit_code"] == (3 if not_checked else 0)


def test_the_kit_has_what_its_readme_names_and_nothing_that_was_built() -> None:
    with zipfile.ZipFile(io.BytesIO(kit.kit())) as archive:
        names = set(archive.namelist())
    assert {
        "README.md",
        "LICENSE",
        "engines/README.md",
        "engines/PROTOCOL.md",
        "first-move/bot.toml",
    } <= names
    assert {name.partition("/")[0] for name in names} == {
        "README.md",
        "LICENSE",
        "engines",
        "workers",
        "first-move",
    }
    assert not [name for name in names if name.endswith((".so", ".pyc"))]


def test_the_kit_is_the_same_whenever_it_is_made() -> None:
    assert kit.kit.__wrapped__() == kit.kit.__wrapped__()


def test_the_example_can_be_uploaded_as_it_is_by_several(client: Client, site: Site) -> None:
    zips = [client.get("/kit/first-move.zip").content for _ in range(2)]
    names = {inspect_bundle(one).name for one in zips}
    assert len(names) == 2
    versions = [submit_bundle(user, one) for user, one in zip((site.owner, site.rival), zips, strict=True)]
    assert {version.bot.name for version in versions} == names
    assert BotVersion.State.REFUSED not in {version.state for version in versions}


def test_the_page_offers_the_kit_with_its_size(client: Client) -> None:
    page = client.get("/kit/").content.decode()
    for address in ("/kit/duarena-kit.zip", "/start/"):
        assert f'href="{address}"' in page
    assert f"({len(kit.kit()) / 2**20:.1f}\xa0MB)" in page
    assert "checkout" not in page


def test_the_source_is_linked_on_every_page_if_the_operator_names_it(
    client: Client, settings: Settings
) -> None:
    assert ">Source</a>" not in client.get("/about/").content.decode()
    assert "Source of Duarena" not in client.get("/kit/").content.decode()
    settings.SOURCE_URL = "https://code.example/duarena"
    for address, text in (("/about/", "Source"), ("/kit/", "Source"), ("/kit/", "Source of Duarena")):
        page = client.get(address).content.decode()
        assert f'href="https://code.example/duarena">{text}</a>' in page.replace(' class="button"', "")
