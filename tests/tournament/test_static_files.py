"""Scripts and styles as they are served."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tournament.settings import ROOT
from tournament.static_files import minified

FOLDER = ROOT / "tournament" / "static"
OWN = sorted(path for path in FOLDER.iterdir() if path.suffix in {".js", ".css"})


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_a_file_of_ours_is_served_without_its_comments(path: Path) -> None:
    source = path.read_bytes()
    served = minified(path.name, source).decode()
    assert len(served) < 0.9 * len(source)
    assert "/*" not in served
    assert not [line for line in served.splitlines() if line.lstrip().startswith("//")]


def test_strings_templates_and_patterns_keep_what_looks_like_a_comment() -> None:
    script = b"""
        // Where the site is.
        const site = "https://example.org"; /* no slash */
        const text = `two  spaces // ${site}  `;
        const slashes = /[/]\\/  x/g;
    """
    served = minified("site.js", script).decode()
    assert "Where" not in served
    assert "no slash" not in served
    for kept in ('"https://example.org"', "`two  spaces // ${site}  `", "/[/]\\/  x/g"):
        assert kept in served


def test_sums_in_a_style_keep_the_spaces_that_they_need() -> None:
    assert minified("a.css", b"p { width: calc(1px + 2 * 3px); }") == b"p{width:calc(1px + 2 * 3px)}"


@pytest.mark.parametrize("name", ["vendor/uplot/uPlot.iife.min.js", "admin/css/base.css", "favicon.svg"])
def test_files_of_others_and_other_files_are_served_as_they_are(name: str) -> None:
    assert minified(name, b"/* a licence */ a { }") == b"/* a licence */ a { }"


def test_only_visitors_who_have_not_asked_for_less_motion_see_motion() -> None:
    style = (FOLDER / "duarena.css").read_text(encoding="utf-8")
    moving = re.findall(r"^.*(?<!over)(?:transition|animation|scroll-behavior)\s*:.*$", style, re.MULTILINE)
    assert moving
    assert all(line.startswith("@media (prefers-reduced-motion: no-preference)") for line in moving)
