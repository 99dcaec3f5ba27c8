"""The tutorial of CONTRIBUTING on formats: its result plays a whole tournament on a started site."""

from __future__ import annotations

import re
import signal
import urllib.request

import pytest

from tests.support.checkouts import NEVER, START_SECONDS, Checkout, Up, eventually, new_checkout
from tournament.embedded.plan import ROOT

BLOCK = re.compile(r"`([\w/]+\.(?:py|html))`(?:;[^`]*)?:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CREATE = """
from tournament.models import BotVersion, Tournament
from tournament.services.schedule.terms import TournamentTerms
from tournament.services.schedule.tournaments import cancel, create, start
for first in Tournament.objects.filter(state="running"):
    cancel(first)
versions = list(BotVersion.objects.valid().order_by("pk")[:4])
terms = TournamentTerms(name="Teams", kind="scheveningen", versions=versions, ladders=["dogon-kulei"],
    pairs=1, time_control="0.05/move", seed=1, opening_plies=4)
start(create(None, terms))
"""


def tutorial() -> dict[str, str]:
    """The files of the tutorial by their paths."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    return dict(BLOCK.findall(text.partition("## Add a format\n")[2].partition("\n## ")[0]))


def run(checkout: Checkout, *words: str) -> None:
    python = str(checkout.folder / ".venv/bin/python")
    answer = checkout.run_command((python, *words), str(checkout.folder))
    assert answer.returncode == 0, answer.stdout + answer.stderr


def page_of(site: Up) -> str:
    with urllib.request.urlopen(
        f"http://127.0.0.1:{site.port}/tournaments/teams/", timeout=START_SECONDS
    ) as page:
        return str(page.read().decode())


@pytest.mark.thorough
def test_the_format_of_the_tutorial_plays_a_tournament() -> None:
    files = tutorial()
    assert [path.rpartition("/")[2] for path in files] == [
        "scheveningen.py",
        "scheveningen.html",
        "test_scheveningen.py",
    ]
    assert sum(text.count("\n") for text in files.values()) < 120
    with new_checkout(NEVER) as checkout:
        for path, text in files.items():
            (checkout.folder / path).write_text(text)
        run(checkout, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/tournament/formats")
        site = Up(checkout)
        try:
            run(checkout, "manage.py", "shell", "-v0", "-c", CREATE)
            eventually(lambda: "Winning team" in page_of(site), START_SECONDS, "it did not end")
            page = page_of(site)
        finally:
            site.end(signal.SIGINT)
    assert len(re.findall(r"<dt>[\d½]+</dt><dd>[^<]+ v1", page)) == 2
    assert "between every two bots of different teams" in page
