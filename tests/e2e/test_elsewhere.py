"""A worker on another host: it knows only the site's address and a token."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from tests.support.brokers import running_worker, without_django
from tests.support.documents import blocks
from tests.support.fake_door import PATIENCE_SECONDS
from tests.support.jobs import wait_until
from tests.support.sites import LonelySite, bare_environment, running_lonely_site
from tournament.embedded.plan import ROOT
from workers.sandbox.policy import TRUST

pytestmark = pytest.mark.slow
GAMES = 8
TOKENS = """
from tournament.models import User
from tournament.services.accounts.tokens import create_token, revoke

staff = User.objects.create_superuser("stan", password="correct horse")
(_, good), (gone, revoked) = (create_token(staff, name, ["worker"]) for name in ("east", "west"))
_, reading = create_token(staff, "reader", ["logs:read"])
revoke(gone)
print("tokens", good, revoked, reading)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LonelySite]:
    with running_lonely_site(tmp_path_factory.mktemp("site"), 18_800) as site:
        yield site


@pytest.fixture(scope="module")
def tokens(site: LonelySite) -> dict[str, str]:
    """Create a tournament, and the tokens of a worker, of a revoked worker and of a program that reads."""
    site.schedule("Away", "dogon-kulei", "dualma")
    output = site.run(TOKENS).rpartition("tokens ")[2].split()
    return dict(zip(("good", "revoked", "reading"), output, strict=True))


@pytest.mark.parametrize(
    ("token", "status", "complaint"),
    [
        ("wrong", 77, "This token is unknown or has been revoked."),
        ("revoked", 77, "This token is unknown or has been revoked."),
        ("reading", 2, "This token lacks the scope worker or worker: own."),
    ],
)
def test_a_worker_whose_token_is_refused_logs_the_reason_and_ends(
    site: LonelySite, tokens: dict[str, str], tmp_path: Path, token: str, status: int, complaint: str
) -> None:
    own = {"DUARENA_TOKEN": tokens.get(token, "duarena_wrong")}
    with running_worker(site.url, tmp_path, words=("--name=east",), environment=own) as worker:
        assert worker.wait(PATIENCE_SECONDS) == status
    output = (tmp_path / "worker.log").read_text()
    assert f"{site.url} does not let this worker in: {complaint}" in output
    assert "Traceback" not in output
    assert "east@" not in site.page("/workers/")


def test_a_worker_fetches_the_bots_plays_a_tournament_and_is_seen_on_the_site(
    site: LonelySite, tokens: dict[str, str], tmp_path: Path
) -> None:
    own = {**without_django(tmp_path), "DUARENA_TOKEN": tokens["good"]}
    with running_worker(
        site.url, tmp_path, words=("--name=east",), environment=own, walls=True, slots=2
    ) as worker:
        assert wait_until(lambda: is_shown(site, "idle") or is_shown(site, "busy"), PATIENCE_SECONDS)
        over = "SELECT state, games_done FROM tournament_tournament"
        assert wait_until(lambda: site.ask(over) == [("finished", GAMES)], 2 * PATIENCE_SECONDS), site.ask(
            over
        )
        query = "SELECT games, voids, trouble FROM tournament_worker WHERE name LIKE 'east@%'"
        assert wait_until(lambda: site.ask(query) == [(GAMES, 0, "")]), site.ask(query)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(PATIENCE_SECONDS) == 0
    assert wait_until(lambda: is_shown(site, "stopped"))
    attempts = site.ask("SELECT end, substr(worker, 1, 5) FROM tournament_attempt")
    assert attempts == [("recorded", "east@")] * GAMES
    assert len(site.ask("SELECT game_id FROM tournament_gamerecord")) == GAMES
    fetched = {path.stem: path for path in (tmp_path / "bundles").rglob("*.zip")}
    assert all(sha256(path.read_bytes()).hexdigest() == name for name, path in fetched.items())
    played = "SELECT bundle_id FROM tournament_botversion v JOIN tournament_entry e ON e.version_id = v.id"
    assert sorted(fetched) == sorted(str(name) for (name,) in site.ask(played))
    assert site.ask("SELECT count(*) FROM tournament_token WHERE used_at IS NOT NULL AND name = 'east'") == [
        (1,)
    ]


SLOW = """
from tournament.embedded.samples import register_samples
from tournament.services.schedule.tournaments import create_round_robin, start

versions = register_samples()
slow = [version for version in versions if version.bot.name in {"Greedy", "Alphabeta"}]
quick = [version for version in versions if version.bot.name in {"Random", "Greedy"}]
common = {"ladders": ["dogon-kulei"], "pairs": 1, "seed": 1, "opening_plies": 2, "rated_off_terms": True}
first = create_round_robin(None, name="Slow", versions=slow, time_control="30/move", **common)
first.priority = 9
first.save()
start(first)
start(create_round_robin(None, name="Next", versions=quick, time_control="1+0.1", **common))
"""
CANCEL = """
from tournament.models import Attempt, Tournament
from tournament.services.schedule.tournaments import cancel

cancel(Tournament.objects.get(name="Slow"))
ended = Attempt.objects.filter(game__tournament__name="Slow", ended_at__isnull=False)
print("cancelled", ended.latest("ended_at").ended_at.timestamp())
"""
SOON_SECONDS = 30.0
"""Ten times the target."""
TAKEN = """
SELECT {} FROM tournament_attempt a JOIN tournament_game g ON a.game_id = g.id
WHERE g.key LIKE '{}/%' AND a.{} IS NOT NULL
"""


def test_a_slot_has_another_game_soon_after_one_of_slow_engines_was_cancelled(
    site: LonelySite, tmp_path: Path
) -> None:
    site.run(SLOW)
    own = {**without_django(tmp_path), "DUARENA_TOKEN": site.token}
    with running_worker(site.url, tmp_path, words=("--name=west",), environment=own, is_quick=False):
        begun = TAKEN.format("count(*)", "slow", "started_at")
        assert wait_until(lambda: site.ask(begun) != [(0,)], PATIENCE_SECONDS)
        at = float(site.run(CANCEL).rpartition("cancelled ")[2])
        taken = TAKEN.format("(julianday(min(a.sent_at)) - 2440587.5) * 86400", "next", "sent_at")
        assert wait_until(lambda: site.ask(taken) != [(None,)], PATIENCE_SECONDS)
        ((asked,),) = site.ask(taken)
        assert float(str(asked)) - at < SOON_SECONDS


def is_shown(site: LonelySite, condition: str) -> bool:
    row = rf"<bdi>east@[^<]+</bdi>.*?worker-{condition}\b"
    return re.search(row, site.page("/workers/"), re.DOTALL) is not None


HOME = """
from tournament.embedded.samples import register_samples
from tournament.models import User
from tournament.services.accounts.tokens import create_token
from tournament.services.schedule.tournaments import create_round_robin, start

ada = User.objects.create_user("ada")
bots = [version for version in register_samples() if version.bot.name in {"Random", "Greedy"}]
start(create_round_robin(
    ada, name="At home", versions=bots, ladders=["dogon-kulei"], pairs=1, opening_plies=2,
    time_control="1+0.1", seed=1, rated=False, own_workers=True,
))
print("token", create_token(ada, "at home", ["worker: own"])[1])
"""


def test_a_worker_of_one_s_own_is_started_as_its_page_says_and_plays(
    site: LonelySite, tmp_path: Path
) -> None:
    token = site.run(HOME).rpartition("token ")[2].strip()
    commands = next(text for text in blocks("docs/workers.md", "sh") if "--name home" in text)
    for on_the_page, here in (
        ("https://duarena.example", site.url),
        ("duarena_…", token),
        (".venv/bin/python", f"exec {shlex.quote(sys.executable)}"),
    ):
        assert on_the_page in commands
        commands = commands.replace(on_the_page, here)
    own = {"DUARENA_BUNDLES": str(tmp_path / "bundles"), "DUARENA_CACHE": str(tmp_path / "cache"), TRUST: "1"}
    worker = subprocess.Popen(
        ("sh", "-ec", commands), cwd=ROOT, env={**bare_environment(), **without_django(tmp_path), **own}
    )
    try:
        over = "SELECT state, games_done FROM tournament_tournament WHERE name = 'At home'"
        assert wait_until(lambda: site.ask(over) == [("finished", 2)], 2 * PATIENCE_SECONDS), site.ask(over)
    finally:
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(PATIENCE_SECONDS) == 0
    played = "SELECT DISTINCT substr(worker, 1, 5) FROM tournament_attempt a JOIN tournament_game g"
    assert site.ask(f"{played} ON a.game_id = g.id WHERE g.key LIKE 'at-home/%'") == [("home@",)]
    assert "for this user alone" in site.page("/workers/")
