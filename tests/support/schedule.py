"""Bots and tournaments for tests of the schedule, and workers that play at random."""

from __future__ import annotations

import hashlib
import random
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils import timezone

from engines.records import Fault, Termination
from engines.rules.base import Reason, Result
from engines.rules.history import History
from engines.rules.registry import find_game
from tournament.models import Attempt, Bot, BotVersion, Bundle, Game, Ladder, Tournament, User, Worker
from tournament.queues import BrokerState
from tournament.services.bots.activity import activate
from tournament.services.schedule.tournaments import (
    TournamentTerms,
    create,
    create_round_robin,
    create_validation,
    start,
)
from tournament.services.uploads import validation
from tournament.services.version_tests.starting import VersionTestTerms, start_test
from workers.bundles.store import pack_bundle
from workers.jobs import (
    BOOK,
    ComplianceEnding,
    ComplianceJob,
    ComplianceNews,
    Finding,
    GameJob,
    GameReport,
    JobGame,
    Progress,
    SideLog,
)
from workers.service.messaging.commands import Command

LADDER = "duploline"
"""The ladder with the shortest games."""
STARTED, FINISHED = "2026-01-02T03:04:05+00:00", "2026-01-02T03:04:06+00:00"


@dataclass
class FakeBroker:
    """The queues as a test sees them: what was sent, and lengths it may set."""

    jobs: list[GameJob] = field(default_factory=list)
    queues: list[str] = field(default_factory=list)
    """Where each message of jobs was sent, all that ever were."""
    batches: list[list[GameJob]] = field(default_factory=list)
    """What each of them held."""
    exams: list[ComplianceJob] = field(default_factory=list)
    sweeps: list[object] = field(default_factory=list)
    lengths: dict[str, int] = field(default_factory=dict)
    told: list[tuple[str, str, bool]] = field(default_factory=list)
    """What workers were told: the name, the run, and whether they get jobs."""
    stopped: list[tuple[str, str]] = field(default_factory=list)
    """The jobs that workers were told to stop, each with the worker's name."""

    def send_jobs(self, jobs: Sequence[GameJob], queue: str) -> None:
        self.jobs.extend(jobs)
        self.batches.append(list(jobs))
        self.queues.append(queue)

    def send_check(self, job: ComplianceJob, worker: str) -> None:
        self.exams.append(job)

    def send_sweep(self, as_of: object) -> None:
        self.sweeps.append(as_of)

    def send_command(self, command: Command) -> None:
        self.stopped += [(command.worker, job) for job in command.stop]
        if admission := command.admission:
            assert admission.admitted != bool(admission.why)
            self.told.append((command.worker, admission.run, admission.admitted))

    def clear_queue(self, name: str) -> None:
        self.jobs.clear()

    def queue_length(self, name: str) -> int:
        return self.lengths.get(name, 0)

    def look_at_broker(self, names: Sequence[str]) -> BrokerState:
        return BrokerState({name: self.lengths.get(name, 0) for name in names}, None)

    def take(self) -> list[GameJob]:
        """All jobs sent since the last time."""
        taken, self.jobs = self.jobs, []
        return taken


def make_user(name: str = "ada", *, staff: bool = False) -> User:
    return User.objects.create_user(name, password="pw", is_staff=staff)


def make_version(
    name: str = "Stone Age",
    *,
    owner: User | None = None,
    games: Sequence[str] = (LADDER,),
    state: BotVersion.State = BotVersion.State.VALID,
) -> BotVersion:
    """The next version of the bot of this name, which is made if there is none."""
    bot = Bot.objects.named(name) or Bot.objects.register(owner, name)
    number = bot.versions.count() + 1
    sha256 = hashlib.sha256(f"{name} {number}".encode()).hexdigest()
    bundle, _ = Bundle.objects.get_or_create(sha256=sha256, defaults={"size": 1})
    version = BotVersion.objects.create(
        bot=bot,
        number=number,
        label=f"0.{number}",
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
    told = {"name": "players@east", "queue": "games", "level": "A", "started_at": now, "seen_at": now}
    return Worker.objects.create(**(told | {"slots": slots} | changes))


def make_workers(slots: int = 2) -> None:
    """A worker for games if there is none, and one for validations if there are any."""
    kinds = [("games", "host")]
    if Tournament.objects.filter(kind=Tournament.Kind.VALIDATION).exists():
        kinds.append(("validation", "checker"))
    for queue, name in kinds:
        if not Worker.objects.filter(queue=queue).exists():
            make_worker(name=name, queue=queue, slots=slots)


def slot_of(game: JobGame) -> str:
    """A slot of the worker to which a game was sent, as its messages name it."""
    assigned = Attempt.objects.filter(pk=game.attempt).values_list("assigned", flat=True).first()
    return f"{assigned or 'host'}/1"


def news(
    version: BotVersion,
    ending: ComplianceEnding = ComplianceEnding.DONE,
    *found: Finding,
    why: str = "",
    unpacked: bool = True,
) -> ComplianceNews:
    """A worker's word of the version's latest examination."""
    exam = version.exams.latest("sent_at")
    return ComplianceNews(str(exam.pk), f"{exam.assigned}/1", unpacked, "Stone Age", found, ending, why)


def pass_exam(version: BotVersion) -> None:
    """Let a worker have examined it, and found nothing wrong: its validation games begin."""
    assert validation.record_news(news(version), timezone.now())
    version.refresh_from_db()


def start_validation(version: BotVersion) -> Tournament:
    """The version's games against itself, as they follow an examination."""
    begun = create_validation(version)
    BotVersion.objects.filter(pk=version.pk).update(validation=begun)
    start(begun)
    return begun


def make_tournament(
    *,
    bots: int = 2,
    ladders: Sequence[str] = (LADDER,),
    pairs: int = 1,
    owner: User | None = None,
    running: bool = True,
    rated: bool = True,
    opening_plies: int = 0,
    versions: Sequence[BotVersion] = (),
    name: str = "Test match",
    seed: int = 1,
    time_control: str = "1+0.1",
) -> Tournament:
    """A round robin of the versions given, or of new bots of nobody's."""
    entered = list(versions) or [
        make_version(f"Bot {number}", games=ladders) for number in range(1, bots + 1)
    ]
    tournament = create_round_robin(
        owner,
        name=name,
        versions=entered,
        ladders=ladders,
        pairs=pairs,
        time_control=time_control,
        seed=seed,
        opening_plies=opening_plies,
        rated=rated,
    )
    if running:
        start(tournament)
    return tournament


def make_event(
    kind: Tournament.Kind,
    *,
    bots: int = 4,
    ladders: Sequence[str] = (LADDER,),
    running: bool = True,
    versions: Sequence[BotVersion] = (),
    **terms: Any,
) -> Tournament:
    """A tournament of any kind, of the versions given or of new bots of nobody's; see ``TournamentTerms``."""
    entered = list(versions) or [make_version(f"Bot {n}", games=ladders) for n in range(1, bots + 1)]
    fixed = {"name": "Test event", "pairs": 1, "time_control": "1+0.1", "seed": 1, "opening_plies": 0}
    if kind == Tournament.Kind.SWISS:
        fixed |= {"rounds": 3}
    given = {"kind": kind, "versions": entered, "ladders": list(ladders), **fixed, **terms}
    owner = given.pop("owner", None)
    tournament = create(owner, TournamentTerms(**given))
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


def play(job: GameJob, game: JobGame, seed: int = 0) -> GameReport:
    """A random game as an honest worker reports it; the same seed gives the same game."""
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
    return GameReport(
        key=game.key,
        attempt=game.attempt,
        worker=slot_of(game),
        result=outcome.result,
        termination=_TERMINATIONS.get(outcome.reason, Termination.RULES),
        reason=outcome.reason,
        fault=Fault.NONE,
        evidence="",
        white_score=outcome.white_score,
        black_score=outcome.black_score,
        moves=tuple(moves),
        started=STARTED,
        finished=FINISHED,
        white=SideLog("white says\0 hi", "> go"),
        black=SideLog("black says hi", "> go"),
    )


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


def play_short(
    job: GameJob, result_of: Callable[[GameJob, JobGame], Result] | None = None
) -> Iterator[GameReport]:
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
        yield GameReport(
            key=game.key,
            attempt=game.attempt,
            worker=slot_of(game),
            result=result,
            termination=Termination.ADJUDICATION,
            reason=Reason.NONE,
            fault=Fault.NONE,
            evidence="",
            white_score=None,
            black_score=None,
            moves=tuple(moves),
            started=STARTED,
            finished=FINISHED,
            white=SideLog(),
            black=SideLog(),
        )


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
    """A worker's first word of a game."""
    return Progress(game.key, game.attempt, slot_of(game), (("a1", ""),), 900, None)


def foreign(report: GameReport) -> GameReport:
    """A report of an attempt that nobody made."""
    return replace(report, attempt=str(uuid.uuid4()))


def game_of(report: GameReport) -> Game:
    return Game.objects.get(key=report.key)
