"""The recipes of docs/api.md against the one-command site, whose worker checks and plays."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

import pytest

from engines.bots import greedy_bot
from tests.support.checkouts import NEVER, START_SECONDS, Checkout, Up, new_checkout
from tests.support.fake_site import source_of
from tests.support.recipes import prepare_job

TOKEN = """
from tournament.models import Tournament, User
from tournament.services.accounts.tokens import create_token
from tournament.services.schedule.tournaments import cancel
for one in Tournament.objects.filter(state="running"):
    cancel(one)
scopes = ["bots:upload", "tests:write"]
print("token", create_token(User.objects.create_user("ada"), "pipeline", scopes)[1])
"""
STRONG, WEAK = Path(greedy_bot.__file__).read_text(), source_of()
PUSHED = (
    ("github", STRONG, 0, "There is no earlier version to test against"),
    ("github", WEAK, 1, "| no |"),
    ("gitlab", f"{STRONG}# better\n", 0, "| yes |"),
)
"""Tags, pushed one after the other: the recipe, the bot, the exit code, and a part of the summary."""


@pytest.mark.thorough
def test_a_pipeline_passes_for_a_better_version_and_fails_for_a_weaker_one(tmp_path: Path) -> None:
    with new_checkout(NEVER) as checkout:
        up = Up(checkout, "--trust-uploads")
        try:
            token = _make_token(checkout)
            for number, (name, source, code, told) in enumerate(PUSHED, start=1):
                top, site = tmp_path / str(number), f"http://127.0.0.1:{up.port}"
                job = prepare_job(name, top, source, site=site, token=token)
                done = subprocess.run(
                    job.command,
                    cwd=job.folder,
                    env=job.environment,
                    capture_output=True,
                    text=True,
                    timeout=START_SECONDS,
                    check=False,
                )
                assert done.returncode == code, done.stdout + done.stderr
                assert f"Iron Age v{number} is valid" in job.summary
                assert told in job.summary
        finally:
            up.end(signal.SIGINT)


def _make_token(checkout: Checkout) -> str:
    python = str(checkout.folder / ".venv/bin/python")
    command = (python, "manage.py", "shell", "-v0", "-c", TOKEN)
    answer = checkout.run_command(command, str(checkout.folder))
    found = re.search(r"^token (\S+)$", answer.stdout, re.MULTILINE)
    assert found, answer.stdout + answer.stderr
    return found[1]
