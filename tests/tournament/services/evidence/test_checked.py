"""What the site publishes as evidence agrees with what ``python3 -m engines evidence`` computes from it."""

from __future__ import annotations

import datetime
import shutil
from pathlib import Path
from zipfile import ZipFile

import pytest
from django.utils import timezone

from engines.__main__ import main
from tests.support.evidence import lines_of
from tests.support.played_evidence import make_evidence, newest, play_event, play_on
from tests.support.schedule import make_user, make_version, play_short, record, record_short, void
from tests.support.ssh_keygen import put_in_path
from tournament.models import BotVersion, Game, Tournament
from tournament.services.annulments import annul
from tournament.services.halted import HaltedAct, settle
from tournament.services.results.withdrawal import withdraw
from tournament.services.signing import allowed_signers
from tournament.services.work.attempts import halt_after_failures
from workers.jobs import GameJob

pytestmark = pytest.mark.django_db
KINDS = ["round-robin", "gauntlet", "swiss", "knock-out"]


@pytest.fixture(autouse=True)
def ssh_keygen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is missing, all but the signature is checked."""
    if shutil.which("ssh-keygen"):
        put_in_path(tmp_path, monkeypatch)


def check(cup: Tournament, capsys: pytest.CaptureFixture[str], *more: str) -> None:
    make_evidence()
    path = newest(cup).path
    signers = path.with_name("signers")
    signers.write_text(allowed_signers())
    code = main(["evidence", str(path), "--signers", str(signers), *more])
    out = capsys.readouterr().out
    missing = [] if shutil.which("ssh-keygen") else ["signature: ssh-keygen is not installed here"]
    expected: tuple[int, list[str], list[str]] = (3 if missing else 0, [], missing)
    assert (code, lines_of(out, "DIFFERS"), lines_of(out, "not checked")) == expected, out


@pytest.mark.parametrize("kind", KINDS)
def test_a_tournament_of_each_format_agrees(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    cup = play_event(kind)
    check(cup, capsys)


@pytest.mark.parametrize("kind", KINDS)
def test_a_version_that_is_withdrawn_meanwhile_leaves_all_in_agreement(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bots = [make_version(f"Bot {number}", owner=make_user(f"user{number}")) for number in range(5)]
    gone: list[BotVersion] = []

    def withdraw_one(jobs: list[GameJob]) -> None:
        record_short(jobs[:1])
        if not gone:
            gone.append(bots[1])
            withdraw(bots[1], "it loops")
        record_short(jobs[1:])

    cup = play_event(kind, versions=bots, report=withdraw_one)
    check(cup, capsys)
    with ZipFile(newest(cup).path) as archive:
        told = b"".join(map(archive.read, archive.namelist()))
    assert b"it loops" not in told, "the reason is for the owner alone"


@pytest.mark.parametrize("kind", KINDS)
def test_void_attempts_and_drawn_openings_leave_all_in_agreement(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    voided: list[str] = []

    def once_void(jobs: list[GameJob]) -> None:
        reports = [report for job in jobs for report in play_short(job)]
        if not voided:
            voided.append(reports[0].key)
            record(void(reports.pop(0), "the disk is full"))
        for report in reports:
            record(report)

    check(play_event(kind, report=once_void, pairs=2, opening_plies=2), capsys)


@pytest.mark.parametrize("kind", ["swiss", "knock-out"])
@pytest.mark.parametrize("rounds", [1, 2])
def test_a_game_annulled_between_rounds_leaves_all_in_agreement(
    kind: str, rounds: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A game of the first round is annulled after so many rounds."""
    batches: list[int] = []

    def annul_one(jobs: list[GameJob]) -> None:
        record_short(jobs)
        batches.append(len(jobs))
        if len(batches) == rounds:
            first = Game.objects.filter(pairing__round=1).earliest("pk")
            annul(Game.objects.filter(pk=first.pk), "a faulty worker", timezone.now())

    check(play_event(kind, report=annul_one), capsys)


@pytest.mark.parametrize("kind", KINDS)
def test_a_game_annulled_after_the_end_leaves_all_in_agreement(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cup = play_event(kind)
    make_evidence()
    first = newest(cup).path
    annul(cup.games.filter(pk=cup.games.order_by("pk")[1].pk), "a faulty worker", timezone.now())
    check(cup, capsys, "--previous", str(first))


def set_moments(cup: Tournament, *, again: set[int]) -> None:
    """A round begins each hour; the games with the ids ``again`` are played after the last one."""
    begin, hour = timezone.now() - datetime.timedelta(days=1), datetime.timedelta(hours=1)
    for game in cup.games.filter(state=Game.State.DONE).select_related("pairing"):
        started = begin + hour * (10 if game.pk in again else game.pairing.round)
        Game.objects.filter(pk=game.pk).update(started_at=started, finished_at=started + hour / 2)
    Tournament.objects.filter(pk=cup.pk).update(finished_at=begin + 11 * hour)


HALTED = [*((kind, None) for kind in KINDS), *(("swiss", act) for act in HaltedAct)]


@pytest.mark.parametrize(("kind", "act"), [*HALTED, ("round-robin", HaltedAct.PLAY_AGAIN)])
def test_halted_games_leave_all_in_agreement(
    kind: str, act: HaltedAct | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both games of the first pair are halted; after the end, staff decides what becomes of them."""
    halted = set[int]()

    def halt_pair(jobs: list[GameJob]) -> None:
        reports = [report for job in jobs for report in play_short(job)]
        first = [] if halted else reports[:2]
        for report in first:
            record(void(report, "the disk is full"))
        for game in Game.objects.filter(state=Game.State.WAITING, voids=1):
            assert halt_after_failures(game, "given up: the disk is full", hopeless=True)
            halted.add(game.pk)
        for report in reports[len(first) :]:
            record(report)

    cup = play_event(kind, report=halt_pair)
    assert cup.state == Tournament.State.HALTED
    for key in halted:
        if act:
            settle(key, act)
    set_moments(play_on(cup), again=halted)
    check(cup, capsys)


def test_a_worker_whose_clock_is_wrong_leaves_all_in_agreement(capsys: pytest.CaptureFixture[str]) -> None:
    cup = play_event("swiss")
    first = set(cup.games.filter(pairing__round=1).values_list("pk", flat=True))
    set_moments(cup, again=first)
    check(cup, capsys)


def test_names_that_begin_with_one_another_have_one_order(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("Bot", "Bot 2", "Bot-3")
    bots = [make_version(name, owner=make_user(f"user{place}")) for place, name in enumerate(names)]
    check(play_event("round-robin", versions=bots), capsys)
