"""The scripts of the pages are checked by tools that are installed once, and are no part of a site."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.scripts.tools import ROOT, Uninstalled, installed
from tests.support.needs import need

SCRIPTS = sorted((ROOT / "tournament/static").glob("*.js"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_editors_check_the_types_of_every_script(script: Path) -> None:
    assert script.read_text().startswith("// @ts-check\n")


def test_the_tools_are_pinned_and_no_part_of_a_site() -> None:
    package = json.loads((ROOT / "package.json").read_text())
    assert package["private"] is True
    assert "dependencies" not in package
    assert "scripts" not in package
    assert all(version[0].isdigit() for version in package["devDependencies"].values())
    kept = (ROOT / ".dockerignore").read_text().splitlines()
    assert kept[0] == "*"
    assert not any("package" in line or "tests" in line for line in kept)


def test_without_a_registry_one_sentence_says_so_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("node")
    need("npm")
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    with pytest.raises(Uninstalled, match=r"npm cannot install .*: .*127\.0\.0\.1:9") as raised:
        installed(tmp_path)
    assert "\n" not in str(raised.value)
    assert not list(tmp_path.iterdir())


def test_what_is_installed_needs_no_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.scripts.tools._install", lambda folder: folder.mkdir())
    (tmp_path / "scripts-old").mkdir()
    folder = installed(tmp_path).parents[1]
    monkeypatch.setattr("tests.scripts.tools._install", lambda folder: pytest.fail("it was installed again"))
    assert installed(tmp_path).parents[1] == folder
    assert list(tmp_path.iterdir()) == [folder]
