"""The recipe of CONTRIBUTING for games: its result is played, shown, clicked, solved and rated on a site."""

from __future__ import annotations

import re
import signal
import urllib.request

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.test_format_tutorial import run
from tests.support.checkouts import START_SECONDS, Checkout, Up, eventually, new_checkout
from tournament.embedded.plan import ROOT

FILE = re.compile(r"`(engines/[\w/]+\.(?:py|txt))`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(
    r"in `(engines/[\w/]+\.py)`, which imports `trio`:\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
MATCH = "-m workers match -each st=0.02 -rounds 1 -game trio -records games.pgn"
MOVES = {
    "h10": '[data-cell="h10"]',
    "swap": "#choices :text('Swap')",
    "h1": '[data-cell="h1"]',
    "j4": '[data-cell="j4"]',
}
"""What is clicked for each of a few moves."""


def recipe() -> tuple[dict[str, str], dict[str, str]]:
    """The files of the recipe by their paths, and what it adds to existing files."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    part = text.partition("## Add a game\n")[2].partition("\n## Add a format\n")[0]
    return dict(FILE.findall(part)), dict(BLOCK.findall(part))


def put_into(checkout: Checkout) -> None:
    """Do what the recipe says."""
    files, lines = recipe()
    for path, text in files.items():
        (checkout.folder / path).write_text(text)
    registry, drawings = (checkout.folder / path for path in lines)
    text = registry.read_text().replace("duovallis, duploline\n", "duovallis, duploline, trio\n", 1)
    registry.write_text(text.replace("\n)\n\nGAMES", f"\n{lines['engines/rules/registry.py']})\n\nGAMES", 1))
    text = drawings.read_text().replace("import small\n", "import small, trio\n", 1)
    for name, line in zip(
        ("_DRAWINGS", "_SMALL", "_PLACES"), lines["engines/svg/__init__.py"].splitlines(), strict=True
    ):
        text = re.sub(rf"(\n{name}: .*?)\n}}\n", rf"\1\n    {line}\n}}\n", text, count=1, flags=re.DOTALL)
    drawings.write_text(text)


def page_of(site: Up, path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{site.port}{path}", timeout=START_SECONDS) as page:
        return str(page.read().decode())


@pytest.mark.thorough
def test_the_game_of_the_recipe_is_played_clicked_solved_and_rated(browser: Browser) -> None:
    with new_checkout() as checkout:
        put_into(checkout)
        conformance = "tests/engines/rules/test_conformance.py"
        run(checkout, "-m", "pytest", "-q", "-p", "no:cacheprovider", conformance, "-k", "conforms and trio")
        python = str(checkout.folder / ".venv/bin/python")
        bots = [f"'{python}' -m engines.bots.{name}_bot" for name in ("greedy", "random")]
        engines = [word for bot in bots for word in ("-engine", f"cmd={bot}", f"name={bot[-10:]}")]
        run(checkout, *MATCH.split(), *engines)
        run(checkout, "-m", "engines", "verify", "games.pgn")
        site = Up(checkout)
        try:
            assert "three in a row" in page_of(site, "/rules/trio/")
            page = browser.new_page(base_url=f"http://127.0.0.1:{site.port}")
            page.goto("/analyse/trio/")
            for move, target in MOVES.items():
                page.locator(target).click()
                expect(page.locator("#tree [name=go][aria-current]")).to_have_text(move)
            page.goto("/rules/trio/tasks/1/")
            page.locator('[data-cell="c1"]').click()
            expect(page.locator("#said")).to_contain_text("Right.")
            eventually(
                lambda: "Latest result" in page_of(site, "/ladders/trio/"), START_SECONDS, "no game was rated"
            )
        finally:
            site.end(signal.SIGINT)
