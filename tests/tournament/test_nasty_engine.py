"""One nasty engine on the whole site: its output appears nowhere unescaped or without a limit."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from django.apps import apps
from django.contrib import admin
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from engines.bundles.store import pack_bundle
from tests.support import nasty_engine
from tests.support.schedule import (
    Deal,
    OnCommit,
    ask,
    make_user,
    make_worker,
    post,
    record,
    slot_of,
)
from tournament.models import Attempt, BotVersion, Game, GameLog, GameRecord, LiveGame, User
from tournament.services.accounts.tokens import create_token
from tournament.services.results import keeper
from tournament.services.schedule.tournaments import create_round_robin, start
from tournament.services.uploads import validation
from tournament.services.uploads.submission import submit_bundle
from workers.jobs import ComplianceNews, GameReport, Progress
from workers.messages import Message, decode
from workers.play.batch import play_batch
from workers.play.runner import Callbacks, WorkerContext
from workers.service.compliance import check_bot

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
ROOT = Path(__file__).resolve().parent.parent.parent
ISOLATES = "\u2068\u2069"
"""The characters that the site puts around names in plain text."""
MAX_PAGE = 2 * 1024 * 1024


MARKUP = "</title><script>alert(1)</script>"
"""Fits into a name of 40 characters."""
BREAKOUT = "\"' onload=alert(1) x='&lt;"
NOTES = f"{MARKUP}\x1b[2J\u202e\u200b\r\n{BREAKOUT}\x07" + "n" * 500
LONG = "L" * 400
MAX_PAGES = 1000
LIMIT_OF_A_NAME = 40


def bundle(name: str, *arguments: str) -> bytes:
    """A bundle with hostile text in every field that is accepted."""
    command = ", ".join(f'"{word}"' for word in ("python3", "main.py", *arguments, MARKUP, LONG))
    manifest = (
        f"[bot]\nname = {json.dumps(name)}\nversion = {json.dumps(BREAKOUT)}\ncommand = [{command}]\n"
        f'games = ["duploline"]\n[options]\n{json.dumps(MARKUP + LONG)} = {json.dumps(BREAKOUT + LONG)}\n'
    )
    source = Path(nasty_engine.__file__).read_bytes()
    return pack_bundle({"bot.toml": manifest.encode(), "main.py": source})


def acting(text: str) -> set[str]:
    """The control and formatting characters of a text."""
    return {c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Cs"} and c not in "\n\t" + ISOLATES}


@pytest.fixture
def played(settings: Settings, deal: Deal, on_commit: OnCommit, tmp_path: Path) -> BotVersion:
    """A nasty bot, checked and validated by a worker, that met a cheating bot; messages are JSON."""
    settings.TRUST_UPLOADS = True
    checker_row = make_worker(name="checker", takes="checks")
    checker = WorkerContext("checker/1", settings.BUNDLES, tmp_path / "cache")

    def play() -> None:
        for job in deal():
            worker = replace(checker, name=slot_of(job.games[0]))
            play_batch([_travelled(job)], worker, Callbacks(_record, _progress))

    ada = make_user("ada@.+-_" + "a" * 32)
    client = Client()
    client.force_login(ada)
    with on_commit():
        zipped = SimpleUploadedFile("bot.zip", bundle(MARKUP + "Nasty"))
        answer = client.post("/upload/", {"bundle": zipped, "notes": NOTES})
    assert answer.status_code == 302, answer.content.decode()
    nasty = BotVersion.objects.get()
    batch = ask(checker_row)
    assert batch is not None
    assert batch.check is not None
    job = _travelled(batch.check)
    check_bot(replace(job, seconds=4), checker, _store_news)
    play()
    nasty.refresh_from_db()
    assert nasty.state == BotVersion.State.VALID, nasty.state_reason
    with on_commit():
        cheat = submit_bundle(make_user("bob"), bundle("Cheat", "cheat"))
    BotVersion.objects.filter(pk=cheat.pk).update(state=BotVersion.State.VALID)
    cheat.refresh_from_db()
    _have_meet(f"Meeting {MARKUP}{BREAKOUT}", nasty, cheat)
    play()
    assert set(Game.objects.values_list("termination", flat=True)) >= {"illegal move"}
    _go_live(nasty, cheat, deal)
    return nasty


def _have_meet(name: str, nasty: BotVersion, cheat: BotVersion) -> None:
    start(
        create_round_robin(
            None,
            name=name,
            versions=[nasty, cheat],
            ladders=["duploline"],
            pairs=1,
            time_control="5+1",
            seed=1,
            opening_plies=0,
            rated_off_terms=True,
        )
    )


def _go_live(nasty: BotVersion, cheat: BotVersion, deal: Deal) -> None:
    """A game under way, with nasty texts in the worker's progress."""
    _have_meet("Live", nasty, cheat)
    job = deal()[0]
    game = job.games[0]
    raw = nasty_engine.NASTY.decode("utf-8", "replace")
    _progress(Progress(game.key, game.attempt, 0, ((raw, raw * 100),), 1000, 1000))
    assert LiveGame.objects.count() == 1


def _travelled(message: Message) -> Message:
    return decode(type(message), msgspec.json.encode(message))


def _store_news(news: ComplianceNews) -> None:
    validation.record_news(_travelled(news), timezone.now())


def _record(report: GameReport) -> None:
    assert isinstance(record(_travelled(report)), keeper.Recorded)


def _progress(progress: Progress) -> None:
    job = Attempt.objects.get(pk=progress.attempt).job
    post(str(job), progress=_travelled(progress))


class Marks(HTMLParser):
    """The parts of a page that a browser would run."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.runs: list[str] = []
        self._is_script = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._is_script = tag == "script"
        self.runs += [
            f"{name}={value}"
            for name, value in attrs
            if "alert" in name + (value or "")
            and (name.startswith("on") or (value or "").startswith("javascript:") or "alert" in name)
        ]

    def handle_endtag(self, tag: str) -> None:
        self._is_script = False

    def handle_data(self, data: str) -> None:
        if self._is_script and "alert" in data:
            self.runs.append(data)


def administered() -> Iterator[str]:
    """Every list of the administration, and every row of it."""
    for model in apps.get_app_config("tournament").get_models():
        if admin.site.is_registered(model):
            name = f"admin:tournament_{model._meta.model_name}"
            yield reverse(f"{name}_changelist")
            for pk in model._default_manager.values_list("pk", flat=True):
                yield reverse(f"{name}_change", args=[pk])
                yield reverse(f"{name}_history", args=[pk])


def crawl(client: Client, *starts: str) -> Iterator[tuple[str, str, str]]:
    """Every page, file and fragment that links lead to, once: address, content type, text."""
    waiting, seen = list(starts), set(starts)
    while waiting:
        address = waiting.pop()
        for headers in ({}, {"X-Part": "true"}):
            response = client.get(address, headers={"Accept": "text/html", **headers})
            assert response.status_code in {200, 204, 302}, f"{address}: {response.status_code}"
            kind = response.get("Content-Type", "")
            if kind in {"application/zip", "image/png"}:
                continue
            text = response.getvalue().decode()
            yield address, kind, text
            if kind.startswith("text/html"):
                for link in re.findall(r'(?:href|data-follow)="(/[^"#]*)', text):
                    target = html.unescape(link)
                    if target not in seen and not target.startswith(("/static/", "/admin/", "/log-out/")):
                        seen.add(target)
                        waiting.append(target)
    assert len(seen) < MAX_PAGES


@pytest.mark.thorough
def test_no_page_record_log_export_or_answer_has_unescaped_text(
    played: BotVersion, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    owner = played.bot.owner
    assert owner is not None
    _, token = create_token(owner, f"{MARKUP}{BREAKOUT}"[:LIMIT_OF_A_NAME], ["logs:read"])
    User.objects.filter(pk=owner.pk).update(is_staff=True, is_superuser=True)
    client = Client()
    client.force_login(User.objects.get(pk=owner.pk))
    games = [game.get_absolute_url() for game in Game.objects.all()]
    records = [reverse("game-record", args=[game.pk]) for game in Game.objects.done()]
    logs = [reverse("game-log", args=pair) for pair in GameLog.objects.values_list("game", "side")]
    visited = set()
    for address, kind, text in crawl(client, "/", "/workers/", "/admin/", *logs, *administered()):
        visited.add(address)
        assert acting(text.replace("\r\n", "\n")) == set(), address
        assert len(text) < MAX_PAGE, address
        if kind.startswith("text/html"):
            assert Marks(text).runs == [], address
            assert "<script>alert" not in text, address
    assert visited >= {
        "/bots/",
        "/account/",
        "/account/tokens/",
        "/queue/",
        "/upload/",
        played.get_absolute_url(),
    }
    assert visited >= {*games, *records}
    assert {"/tournaments/live/", "/ladders/duploline/records.pgn"} <= visited
    answer = client.get(f"/api{played.get_absolute_url()}", headers={"Authorization": f"Bearer {token}"})
    assert acting(answer.content.decode()) == set()
    assert acting(json.dumps(answer.json(), ensure_ascii=False)) == set()
    assert acting(caplog.text + "".join(capfd.readouterr())) == set()
    lines = "".join(log.lines for log in GameLog.objects.all())
    assert r"\x1b[2J\x1b]0;owned\x07\x00" in lines, "the log has it, and its author can read it"
    assert r"\u202e" in "".join(log.stderr for log in GameLog.objects.all())
    assert all(len(text) < 20_000 for text in GameRecord.objects.values_list("text", flat=True))


@pytest.mark.parametrize("cheats", [False, True])
def test_no_command_prints_unescaped_text_on_the_terminal(cheats: bool, tmp_path: Path) -> None:
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
