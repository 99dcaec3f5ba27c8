"""Bots and tournaments for tests of the schedule, and workers that play at random."""

from __future__ import annotations

import hashlib
import random
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F
from django.utils import timezone

from engines.bundles.store import pack_bundle
from engines.records import BOOK, Fault, Termination
from engines.rules.base import Reason, Result
from engines.rules.history import History
from engines.rules.registry import find_game
from tournament.models import (
    Attempt,
    Bot,
    BotVersion,
    Bundle,
    ComplianceCheck,
    Door,
    Game,
    Job,
    Keeper,
    Ladder,
    SlotUse,
    Tournament,
    User,
    Worker,
)
from tournament.services.bots.activity import activate
from tournament.services.results import inbox, keeper
from tournament.services.schedule.tournaments import TournamentTerms, create, start
from tournament.services.stopping import end_jobs
from tournament.services.uploads import validation
from tournament.services.version_tests.starting import VersionTestTerms, start_test
from tournament.services.work.next_batch import next_batch
from workers.jobs import (
    Ask,
    Batch,
    ComplianceEnding,
    ComplianceNews,
    Finding,
    GameJob,
    GameReport,
    JobGame,
    Post,
    PostAnswer,
    Progress,
    SideLog,
    Work,
)

Deal = Callable[[], list[GameJob]]
"""The fixture ``deal``."""
OnCommit = Callable[[], AbstractContextManager[object]]
"""The fixture ``on_commit``."""
Ended = keeper.Recorded | keeper.Voided | keeper.IgnoredReport
ResultOf = Callable[[GameJob, JobGame], Result]
LADDER = "duploline"
"""The ladder with the shortest games."""
STARTED, FINISHED = "2026-01-02T03:04:05+00:00", "2026-01-02T03:04:06+00:00"


ASKS_A_SLOT = 4
"""``take_all`` lets a slot take so many batches before it plays them."""


def make_user(name: str = "ada", *, staff: bool = False) -> User:
    return User.objects.create_user(name, password="pw", is_staff=staff)


def make_version(
    name: str = "Stone Age",
    *,
    owner: User | None = None,
    games: Sequence[str] = (LADDER,),
    state: BotVersion.State = BotVersion.State.VALID,
    label: str | None = None,
) -> BotVersion:
    """The next version of the bot of this name, which is made if there is none."""
    bot = Bot.objects.named(name) or Bot.objects.register(owner, name)
    number = bot.versions.count() + 1
    sha256 = hashlib.sha256(f"{name} {number}".encode()).hexdigest()
    bundle, _ = Bundle.objects.get_or_create(sha256=sha256, defaults={"size": 1000})
    version = BotVersion.objects.create(
        bot=bot,
        number=number,
        label=f"0.{number}" if label is None else label,
        bundle=bundle,
        command=["python3", "main.py"],
        games=list(games),
        state=state,
    )
    if state == BotVersion.State.VALID:
        Ladder.objects.ensure()
        activate(version)
    return version


def make_worker(slots: int = 2, **changes: Any) -> Worker:
    """A worker for games that is up, as it told of itself."""
    now = timezone.now()
    told = {"name": "players@east", "takes": "games", "level": "A", "started_at": now, "seen_at": now}
    run = str(uuid.uuid4())
    return Worker.objects.create(**(told | {"run": run, "slots": slots} | changes))


def make_workers(slots: int = 2) -> None:
    """A worker for games if there is none, and one for validations if there are any."""
    kinds = [(Work.GAMES, "host")]
    checks = ComplianceCheck.objects.filter(ended_at__isnull=True).exists()
    if checks or Tournament.objects.filter(kind="validation").exists():
        kinds.append((Work.CHECKS, "checker"))
    for work, name in kinds:
        if not Worker.objects.taking(work).exists():
            make_worker(name=name, takes=str(work), slots=slots)


def open_door(now: datetime | None = None) -> None:
    """Let workers have reached the site, and the record keeper have run, for long: leases may end."""
    now = now or timezone.now()
    always = {"open_since": now - timedelta(days=1), "seen_at": now}
    Door.objects.update_or_create(pk=1, defaults=always)
    Keeper.objects.update_or_create(pk=1, defaults={"seen_at": now})


def held_by(worker: Worker, slot: int) -> list[str]:
    """The jobs that a slot has."""
    return [str(job.pk) for job in Job.objects.of_worker(worker.name).filter(slot=slot)]


def charge(seconds: Mapping[int | None, float], now: datetime, *, is_validation: bool = False) -> None:
    """Let owners, of which None is the site, have used so many seconds of slots on this day."""
    for owner, used in seconds.items():
        row, _ = SlotUse.objects.get_or_create(owner_id=owner, day=now.date())
        name = "validation_seconds" if is_validation else "seconds"
        SlotUse.objects.filter(pk=row.pk).update(**{name: F(name) + used})


def ask(
    worker: Worker | None = None, slot: int = 0, *, holds: Sequence[str] | None = None, ask_id: str = ""
) -> Batch | None:
    """What a slot gets that asks for work; it still has all that it took, unless ``holds`` says otherwise."""
    worker = worker or Worker.objects.given_jobs().taking(Work.GAMES)[0]
    held = held_by(worker, slot) if holds is None else holds
    takes = tuple(kind for kind in Work if kind in worker.takes)
    asked = Ask(ask_id or str(uuid.uuid4()), worker.name, worker.run, slot, takes, tuple(held))
    return next_batch(asked, worker, timezone.now())


def take_all() -> list[Batch]:
    """What the slots of all workers get until nothing is left, or each has ``ASKS_A_SLOT`` batches."""
    workers = list(Worker.objects.given_jobs().order_by("name"))
    slots = [(worker, slot) for worker in workers for slot in range(worker.slots - worker.held)]
    batches: list[Batch] = []
    served = set(workers)
    for worker, slot in slots * ASKS_A_SLOT:
        if worker in served and len(held_by(worker, slot)) < ASKS_A_SLOT:
            if batch := ask(worker, slot):
                batches.append(batch)
            else:
                served.remove(worker)
    return batches


def take_jobs() -> list[GameJob]:
    """The jobs of ``take_all``."""
    return [job for batch in take_all() for job in batch.jobs]


def post(job: str, *, now: datetime | None = None, **content: Any) -> PostAnswer:
    """What the slot that took a job is answered when it posts this, see ``workers.jobs.Post``."""
    held = Job.objects.get(pk=job)
    worker = Worker.objects.get(name=held.worker)
    posted = Post(worker.name, worker.run, held.slot, **content)
    return inbox.receive(posted, uuid.UUID(job), worker, now or timezone.now())


def begin_game(game: JobGame) -> PostAnswer:
    """Let a slot have begun a game, as its first post about it says."""
    return post(str(Attempt.objects.get(pk=game.attempt).job_id), progress=word_of(game))


def return_games(*games: JobGame | GameReport) -> None:
    """Let slots give games back."""
    for game in games:
        post(str(Attempt.objects.get(pk=game.attempt).job_id), returned=(game.attempt,))


def slot_of(game: JobGame) -> str:
    """A slot of the worker that took a game, as its messages name it."""
    assigned = Attempt.objects.filter(pk=game.attempt).values_list("job__worker", flat=True).first()
    return f"{assigned or 'host'}/1"


def news(
    version: BotVersion,
    ending: ComplianceEnding = ComplianceEnding.DONE,
    *found: Finding,
    why: str = "",
    unpacked: bool = True,
) -> ComplianceNews:
    """A worker's word of the version's latest examination."""
    check = version.checks.latest("sent_at")
    assert check.job is not None
    return ComplianceNews(
        str(check.job_id), f"{check.job.worker}/1", unpacked, "Stone Age", found, ending, why
    )


def pass_check(version: BotVersion) -> None:
    """Let a worker have examined it, and found nothing wrong: its validation games begin."""
    assert validation.record_news(news(version), timezone.now())
    version.refresh_from_db()


def start_validation(version: BotVersion) -> Tournament:
    """The version's games against itself, as they follow an examination."""
    return validation.start_games(version, timezone.now())


def make_tournament(**terms: Any) -> Tournament:
    """A round robin of two bots unless told otherwise; see ``make_event``."""
    usual: dict[str, Any] = {"bots": 2, "name": "Test match"}
    return make_event("round-robin", **(usual | terms))


def make_event(
    kind: str,
    *,
    bots: int = 4,
    running: bool = True,
    versions: Sequence[BotVersion] = (),
    owner: User | None = None,
    **terms: Any,
) -> Tournament:
    """A tournament of any kind, of the versions given or of new bots of nobody's; see ``TournamentTerms``."""
    fixed: dict[str, Any] = {"name": "Test event", "ladders": [LADDER], "pairs": 1, "seed": 1}
    fixed |= {"time_control": "1+0.1", "opening_plies": 0, "rated_off_terms": True}
    if kind == "swiss":
        fixed["rounds"] = 3
    given = fixed | terms
    entered = list(versions) or [make_version(f"Bot {n}", games=given["ladders"]) for n in range(1, bots + 1)]
    tournament = create(owner, TournamentTerms(kind=kind, versions=entered, **given))
    if running:
        start(tournament)
    return tournament


def make_test(owner: User, **terms: Any) -> Tournament:
    """A running version test of two versions of Ada unless others are given; see ``VersionTestTerms``."""
    if "candidate" not in terms:
        terms["baseline"], terms["candidate"] = (make_version("Ada", owner=owner) for _ in range(2))
    fixed: dict[str, Any] = {"ladder": LADDER, "elo0": 0.0, "elo1": 100.0, "most_games": 1000, "seed": 1}
    fixed |= {"time_control": "1+0.1", "opening_plies": 2}
    return start_test(owner, VersionTestTerms(**(fixed | terms)))


def pack_bot(
    name: str = "Stone Age", *, version: str = "1.2", games: Sequence[str] = (LADDER,), more: str = ""
) -> bytes:
    """A bundle that would be taken in; another ``version`` gives other bytes."""
    listed = ", ".join(f'"{game}"' for game in games)
    manifest = (
        f'[bot]\nname = "{name}"\nversion = "{version}"\n'
        f'command = ["python3", "main.py"]\ngames = [{listed}]\n{more}'
    )
    return pack_bundle({"bot.toml": manifest.encode(), "main.py": b"print('hello')\n"})


def play(job: GameJob, game: JobGame, seed: int = 0, slot: str = "") -> GameReport:
    """A random game as an honest worker reports it; the same seed gives the same game.

    Without ``slot`` the one that took it reports it.
    """
    rules = find_game(job.game)
    start_position = rules.position.parse(job.fen) if job.fen else None
    history = History(rules, start_position, job.ply_limit)
    source = random.Random(f"{seed}/{game.key}")
    moves: list[tuple[str, str]] = []
    for token in job.opening:
        history.play(token)
        moves.append((token, BOOK))
    while not history.outcome.decided:
        token = source.choice(list(history.position.legal_moves()))
        history.play(token)
        moves.append((token, "+0.10/3 0.010s"))
    outcome = history.outcome
    return report_of(
        game,
        moves,
        outcome.result,
        _TERMINATIONS.get(outcome.reason, Termination.RULES),
        reason=outcome.reason,
        white_score=outcome.white_score,
        black_score=outcome.black_score,
        white=SideLog("white says\0 hi", "> go"),
        black=SideLog("black says hi", "> go"),
        worker=slot or slot_of(game),
    )


def report_of(
    game: JobGame, moves: Sequence[tuple[str, str]], result: Result, termination: Termination, **more: Any
) -> GameReport:
    """A report without a fault; ``more`` are its other fields."""
    usual: dict[str, Any] = {"reason": Reason.NONE, "fault": Fault.NONE, "evidence": ""}
    usual |= {"white_score": None, "black_score": None, "white": SideLog(), "black": SideLog()}
    usual |= {
        "worker": more.get("worker") or slot_of(game),
        "started": STARTED,
        "finished": FINISHED,
        "moves": tuple(moves),
    }
    return GameReport(game.key, game.attempt, result=result, termination=termination, **(usual | more))


_TERMINATIONS = {Reason.REPETITION: Termination.REPETITION, Reason.PLY_LIMIT: Termination.PLY_LIMIT}


def play_all(job: GameJob, seed: int = 0) -> Iterator[GameReport]:
    return (play(job, game, seed) for game in job.games)


def forfeit(report: GameReport, evidence: str = "no answer") -> GameReport:
    """The same game, lost on time by White after the given moves."""
    given = tuple(move for move in report.moves if move[1] == BOOK)
    return replace(
        report,
        result=Result.BLACK_WINS,
        termination=Termination.TIME,
        reason=Reason.NONE,
        fault=Fault.WHITE,
        evidence=evidence,
        white_score=None,
        black_score=None,
        moves=given,
    )


def play_short(job: GameJob, result_of: ResultOf | None = None) -> Iterator[GameReport]:
    """The job's games, cut short after a few random plies and adjudicated; quick to replay.

    Without ``result_of`` their results are drawn at random, from their keys alone.
    """
    for game in job.games:
        source = random.Random(game.key)
        history = History(find_game(job.game))
        moves = [(token, BOOK) for token in job.opening]
        for token in job.opening:
            history.play(token)
        for _ in range(source.randint(2, 5)):
            token = next(history.position.legal_moves())
            history.play(token)
            moves.append((token, ""))
        drawn = source.choice([Result.WHITE_WINS, Result.BLACK_WINS, Result.DRAW])
        result = result_of(job, game) if result_of else drawn
        yield report_of(game, moves, result, Termination.ADJUDICATION)


def record_short(jobs: Iterable[GameJob], result_of: ResultOf | None = None) -> list[Ended]:
    """Let the record keeper record the games of these jobs, see ``play_short``."""
    return record_all([report for job in jobs for report in play_short(job, result_of)])


def record(report: GameReport) -> Ended:
    """What ``record_all`` answers to one report."""
    return record_all([report])[0]


def record_all(reports: Sequence[GameReport]) -> list[Ended]:
    """Let the record keeper handle these reports; jobs without other games end, as posts end them."""
    ends = keeper.record_all(reports)
    played = Job.objects.filter(attempts__game__key__in=[report.key for report in reports])
    left = Attempt.objects.filter(ended_at__isnull=True, reported_at__isnull=True)
    end_jobs(Job.objects.filter(pk__in=played.exclude(attempts__in=left)), Job.End.DONE, timezone.now())
    return ends


def all_drawn(*_: object) -> Result:
    return Result.DRAW


def first_name_wins(job: GameJob, game: JobGame) -> Result:
    """Of the names of the two bots, the first in the alphabet."""
    names = [engine.name for engine in job.engines]
    return Result.WHITE_WINS if names[game.white] < names[1 - game.white] else Result.BLACK_WINS


def candidate_wins(_: GameJob, game: JobGame) -> Result:
    """In a version test."""
    return Result.WHITE_WINS if game.white == 0 else Result.BLACK_WINS


def void(report: GameReport, evidence: str = "the disk is full") -> GameReport:
    """The same attempt without a result."""
    return replace(
        report,
        result=Result.UNDECIDED,
        termination=Termination.VOID,
        reason=Reason.NONE,
        fault=Fault.INFRASTRUCTURE,
        evidence=evidence,
        white_score=None,
        black_score=None,
        moves=(),
    )


def word_of(game: JobGame) -> Progress:
    """A slot's first word of a game."""
    return Progress(game.key, game.attempt, 0, (("a1", ""),), 900, None)


def foreign(report: GameReport) -> GameReport:
    """A report of an attempt that nobody made."""
    return replace(report, attempt=str(uuid.uuid4()))


def game_of(report: GameReport) -> Game:
    return Game.objects.get(key=report.key)
