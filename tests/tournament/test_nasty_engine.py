"""One nasty engine through the whole house: nothing it says comes out anywhere unescaped or unbounded."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from tests.support import nasty_engine
from tests.support.schedule import FakeBroker, make_user
from tournament import models
from tournament.models import BotVersion, Game, GameLog, GameRecord
from tournament.services import keeper, validation
from tournament.services.bots import submit_bundle
from tournament.services.tokens import create_token
from tournament.services.tournaments import create_round_robin, start
from workers.bundles import pack_bundle
from workers.examination import ExamJob, ExamNews, examine
from workers.jobs import GameJob, GameReport, Progress
from workers.parcel import play_parcel
from workers.runner import Line, Worker

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
ROOT = Path(__file__).resolve().parent.parent.parent
ISOLATES = "\u2068\u2069"
"""What the site itself puts around names in texts without markup."""
MAX_PAGE = 2 * 1024 * 1024


def bundle(name: str, *arguments: str) -> bytes:
    command = ", ".join(f'"{word}"' for word in ("python3", "main.py", *arguments))
    manifest = f'[bot]\nname = "{name}"\nversion = "1"\ncommand = [{command}]\ngames = ["duploline"]\n'
    source = Path(nasty_engine.__file__).read_bytes()
    return pack_bundle({"bot.toml": manifest.encode(), "main.py": source})


def acting(text: str) -> set[str]:
    """The characters of a text that do something else than to be read."""
    return {c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Cs"} and c not in "\n\t" + ISOLATES}


@pytest.fixture
def played(
    settings: Settings,
    queues: FakeBroker,
    deal: Callable[[], list[GameJob]],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    tmp_path: Path,
) -> BotVersion:
    """A nasty bot, examined and validated by a worker, that met one that cheats; every message as JSON."""
    settings.TRUST_UPLOADS = True
    worker = Worker("host/1", settings.BUNDLES, tmp_path / "cache")

    def play() -> None:
        for job in deal():
            play_parcel([GameJob.from_json(_travelled(job.to_json()))], worker, Line(_record, _progress))

    with django_capture_on_commit_callbacks(execute=True):
        nasty = submit_bundle(make_user("ada"), bundle("Nasty"))
    (exam,) = queues.exams
    job = ExamJob.from_json(_travelled(exam.to_json()))
    examine(replace(job, seconds=4), worker, _hear)
    play()
    nasty.refresh_from_db()
    assert nasty.state == BotVersion.State.VALID, nasty.state_reason
    with django_capture_on_commit_callbacks(execute=True):
        cheat = submit_bundle(make_user("bob"), bundle("Cheat", "cheat"))
    BotVersion.objects.filter(pk=cheat.pk).update(state=BotVersion.State.VALID)
    cheat.refresh_from_db()
    start(
        create_round_robin(
            None,
            name="Meeting",
            versions=[nasty, cheat],
            ladders=["duploline"],
            pairs=1,
            time_control="5+1",
            seed=1,
            opening_plies=0,
        )
    )
    play()
    assert set(Game.objects.values_list("termination", flat=True)) >= {"illegal move"}
    return nasty


def _travelled(value: object) -> object:
    return json.loads(json.dumps(value))


def _hear(news: ExamNews) -> None:
    validation.hear(ExamNews.from_json(_travelled(news.to_json())), timezone.now())


def _record(report: GameReport) -> None:
    assert isinstance(keeper.record(GameReport.from_json(_travelled(report.to_json()))), keeper.Recorded)


def _progress(word: Progress) -> None:
    keeper.progress(Progress.from_json(_travelled(word.to_json())))


def test_no_page_record_log_export_or_answer_lets_anything_through(
    played: BotVersion, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    owner = played.bot.owner
    assert owner is not None
    _, token = create_token(owner, "t", ["read"])
    owner.is_staff = owner.is_superuser = True
    owner.save()
    client = Client()
    client.force_login(owner)
    page = played.get_absolute_url()
    games = [game.get_absolute_url() for game in Game.objects.all()]
    addresses = [
        "/",
        page,
        played.bot.get_absolute_url(),
        "/account/",
        "/bots/",
        "/tournaments/meeting/",
        "/tournaments/meeting/records.pgn",
        "/ladders/duploline/records.pgn",
        *games,
        *(f"{game.rstrip('/')}.pgn" for game in games),
        *(f"{game}log/{side}/" for game in games for side in ("white", "black")),
    ]
    for model in (
        models.GameLog,
        models.Exam,
        models.GameRecord,
        models.Game,
        models.BotVersion,
        models.Attempt,
    ):
        name = f"admin:tournament_{model._meta.model_name}"
        addresses.append(reverse(f"{name}_changelist"))
        addresses += [
            reverse(f"{name}_change", args=[pk]) for pk in model.objects.values_list("pk", flat=True)
        ]
    for address in addresses:
        response = client.get(address)
        assert response.status_code == 200, address
        text = response.getvalue().decode()
        assert acting(text.replace("\r\n", "\n")) == set(), address
        assert len(text) < MAX_PAGE, address
        if response["Content-Type"].startswith("text/html"):
            assert "<script>alert" not in text, address
    answer = client.get(f"/api{page}", headers={"Authorization": f"Bearer {token}"})
    assert acting(answer.content.decode()) == set()
    assert acting(json.dumps(answer.json(), ensure_ascii=False)) == set()
    assert acting(caplog.text + "".join(capfd.readouterr())) == set()
    told = "".join(GameLog.objects.values_list("lines", flat=True))
    assert r"\x1b[2J\x1b]0;owned\x07\x00" in told, "it did say it, and its author can read what"
    assert r"\u202e" in "".join(GameLog.objects.values_list("stderr", flat=True))
    assert all(len(text) < 20_000 for text in GameRecord.objects.values_list("text", flat=True))


@pytest.mark.parametrize("cheats", [False, True])
def test_no_command_lets_anything_through_to_the_terminal(cheats: bool, tmp_path: Path) -> None:
    engine = f"python3 {nasty_engine.__file__}{' cheat' if cheats else ''}"
    commands = (
        ["check", "--timeout", "6", "--game", "duploline", "--", *engine.split()],
        ["match", "-engine", f"cmd={engine}", "name=Nasty", "-engine", f"cmd={engine}", "name=Other",
         "-game", "duploline", "-tc", "5+1", "-rounds", "1", "-records", str(tmp_path / "match.pgn"),
         "-log", str(tmp_path / "logs")],
    )  # fmt: skip
    for words in commands:
        done = subprocess.run(
            [sys.executable, "-m", "workers", *words],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode in {0, 1}, done.stderr
        assert acting(done.stdout + done.stderr) == set(), words[0]
        assert len(done.stdout) < 100_000
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) >= 2
    for path in written:
        assert acting(path.read_text()) == set(), path.name
