"""The messages between a site and its workers: what a slot asks and gets, what it reports, and heartbeats.

Values only, without a queue, a process or a database. Each is a frozen dataclass and is sent as a JSON
object of its fields; ``workers.messages`` reads it back.
"""

from __future__ import annotations

import enum
import uuid
from dataclasses import dataclass

from engines.bundles import is_sha256
from engines.rules.base import Reason, Result

PROTOCOL = 7
"""Version of what a site and its workers must agree on: all their messages, and the rules of the games.

The first release had version 1. A change of a message or of a game's rules raises it; ``AGREED`` in
``tests/workers/test_jobs.py`` has what each number stands for.
"""

MAX_OPENING_PLIES = 40
"""The longest opening; with more random plies the bots would decide little of a game."""

BOTH_UNABLE = "both engines unable to start"
"""So begins the evidence of a void whose replay likely fails too."""
NOT_RUN = "uploaded bots are not run by this worker"
"""So begins the evidence of a game that is void because its worker has no sandbox for it."""
UNTIMED_SECONDS = 120
"""An engine loses that is silent for so long in a turn without a limit of time."""
MAX_SLOTS = 1024
MAX_HELD = 10_000
"""Jobs that a slot names when it asks."""


class JobError(ValueError):
    """A message does not have the expected form; the text names the field."""


class RestartMode(enum.StrEnum):
    """When an engine's process is restarted, except after a fault, which always restarts it."""

    ON = "on"
    """The process is restarted before every game."""
    AUTO = "auto"
    """When a job without it begins: at most two engines run at a time."""
    OFF = "off"
    """Never: it keeps running until the pool is cleared."""


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """An engine to run.

    ``bundle`` is the SHA-256 of the zip to fetch (lower-case hex). ``directory`` is a folder
    of this machine, used instead of a bundle when authors run their own engines. With neither,
    the command runs in an empty folder. ``time_control`` overrides the job's time control.
    ``trusted``: the engine may run without a sandbox. A site's worker decides that itself, whatever a message
    says.

    The properties are those of an engine without settings of its own, which matches on one machine have:
    ``margin_ms`` None is the margin of the job, ``startup_seconds`` None the usual time limit of a start.
    """

    name: str
    version: str
    command: tuple[str, ...]
    bundle: str | None = None
    directory: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    time_control: str | None = None
    trusted: bool = False

    def __post_init__(self) -> None:
        if not self.command:
            raise JobError("EngineSpec.command must not be empty")
        if self.bundle is not None and not is_sha256(self.bundle):
            raise JobError(f"EngineSpec.bundle must be a SHA-256 in lower-case hex, not {self.bundle!r}")

    @property
    def restart(self) -> RestartMode:
        return RestartMode.AUTO

    @property
    def margin_ms(self) -> int | None:
        return None

    @property
    def startup_seconds(self) -> int | None:
        return None


@dataclass(frozen=True, slots=True)
class DrawRule:
    """A draw from move ``move_number`` on, if both engines' last ``moves`` scores are within ``score`` of 0.

    One move counts a ply of each player. Scores are in hundredths.
    """

    move_number: int
    moves: int
    score: int


@dataclass(frozen=True, slots=True)
class ResignRule:
    """Ends a game that both engines, or only the losing one, score as lost for the same side.

    An engine loses when its last ``moves`` scores are at most ``-score`` and the other engine's at least
    ``score``. Unless ``two_sided`` its own scores are enough.
    """

    moves: int
    score: int
    two_sided: bool = True


@dataclass(frozen=True, slots=True)
class JobGame:
    """One game of a job.

    ``key`` is ``tournament/round/pairing/number``; ``white`` is the index of White's engine.
    """

    key: str
    attempt: str
    white: int

    def __post_init__(self) -> None:
        if self.white not in (0, 1):
            raise JobError(f"JobGame.white must be 0 or 1, not {self.white}")


@dataclass(frozen=True, slots=True)
class GameJob:
    """Games between the same two engines, played in order by the same two processes.

    ``opening`` holds the moves that are played from the start (``fen``, or the game's initial position)
    before the engines choose. ``ply_limit`` None is the game's default. ``draw`` and ``resign`` end games
    early.
    """

    job: str
    game: str
    engines: tuple[EngineSpec, EngineSpec]
    games: tuple[JobGame, ...]
    time_control: str
    opening: tuple[str, ...] = ()
    fen: str | None = None
    ply_limit: int | None = None
    seed: int = 0
    margin_ms: int = 50
    draw: DrawRule | None = None
    resign: ResignRule | None = None

    def __post_init__(self) -> None:
        if self.margin_ms < 0:
            raise JobError(f"GameJob.margin_ms must not be negative, not {self.margin_ms}")

    def players(self, game: JobGame) -> tuple[EngineSpec, EngineSpec]:
        """White and Black."""
        return self.engines[game.white], self.engines[1 - game.white]

    def control_of(self, engine: EngineSpec) -> str:
        return engine.time_control or self.time_control

    def margin_of(self, engine: EngineSpec) -> int:
        return self.margin_ms if engine.margin_ms is None else engine.margin_ms


@dataclass(frozen=True, slots=True)
class SideLog:
    """The log of one engine in one game. Only the engine's author and staff may see it.

    ``stderr`` is its standard error; ``lines`` holds the lines exchanged with it (``>`` to it,
    ``<`` from it), each with its time in seconds since the game's start. Both are limited in size.
    """

    stderr: str = ""
    lines: str = ""


@dataclass(frozen=True, slots=True)
class GameReport:
    """A game that was played, or a void game (result ``*``, termination ``void``), which is played again.

    ``moves`` pairs each token with its comment as in records: ``"book"`` for an opening
    move, ``""`` for none. ``started`` and ``finished`` are UTC, ISO 8601. ``walls`` (the sandbox), ``speed``
    and ``clock`` describe the worker: see ``workers.play.environment``.
    """

    key: str
    attempt: str
    worker: str
    result: Result
    termination: str
    reason: Reason
    fault: str
    evidence: str
    white_score: int | None
    black_score: int | None
    moves: tuple[tuple[str, str], ...]
    started: str
    finished: str
    white: SideLog
    black: SideLog
    walls: str = ""
    speed: str = ""
    clock: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """The moves of a running game from ply ``from_ply`` on, and the time left to both players.

    The side to move has used the time since its question was written. Without clocks it has what is left of
    the time for this move, the longest silence if there is no limit. None is a time that does not run: of
    both players until they are ready, without clocks of the other one.

    The site ignores the plies that it has; if some are missing before ``from_ply``, its answer says from
    where it wants them.
    """

    key: str
    attempt: str
    from_ply: int
    moves: tuple[tuple[str, str], ...]
    white_ms: int | None
    black_ms: int | None

    def __post_init__(self) -> None:
        if self.from_ply < 0:
            raise JobError(f"Progress.from_ply must not be negative, not {self.from_ply}")


class ComplianceEnding(enum.StrEnum):
    """How a compliance check ended; ``NONE`` while it runs."""

    NONE = ""
    DONE = "done"
    """All checks that the time allowed have run."""
    REFUSED = "refused"
    """The bundle is invalid; ``why`` has the reason."""
    FAILED = "failed"
    """The worker could not run the check; ``why`` has the reason. It does not count against the bot."""
    RETURNED = "returned"
    """The worker stopped; the check waits again at once."""


@dataclass(frozen=True, slots=True)
class ComplianceJob:
    """A compliance check to run: an engine, its ladders, and the time limit in seconds."""

    exam: str
    """The job, as in ``Batch.job``."""
    engine: EngineSpec
    games: tuple[str, ...]
    seconds: int


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check on one ladder (``""``: the check does not depend on the ladder).

    ``fault`` is a sentence, ``""`` if the engine passed; ``lines`` (``>`` to the engine, ``<`` from it, with
    times in seconds) and ``stderr`` are the logs of a fault. ``was_tried`` is False if the time limit ended
    the check before or during this test; then ``lines`` are those up to the end.
    """

    check: str
    ladder: str
    fault: str = ""
    advice: str = ""
    lines: str = ""
    stderr: str = ""
    was_tried: bool = True
    is_grave: bool = False
    """Whether the fault loses games or disturbs others; a site refuses such an engine."""
    same_as: str = ""
    """The earlier check, with its ladder, that found the same fault or exception."""


@dataclass(frozen=True, slots=True)
class ComplianceNews:
    """The state of a compliance check: all findings so far, and how it ended once it is over."""

    exam: str
    """The job of the check."""
    worker: str
    unpacked: bool
    engine: str
    """The name that the engine reports; empty until the end."""
    found: tuple[Finding, ...]
    ending: ComplianceEnding
    why: str


@dataclass(frozen=True, slots=True)
class SearchJob:
    """Positions of one line that an engine evaluates, each for ``ms`` milliseconds.

    The line is ``moves`` from ``fen``, None for the game's initial position; ``plies`` says after how many
    moves, in the order in which the positions are evaluated. ``search`` is the id of the batch: another slot
    gets another one.
    """

    search: str
    engine: EngineSpec
    game: str
    fen: str | None
    moves: tuple[str, ...]
    plies: tuple[int, ...]
    ms: int

    def __post_init__(self) -> None:
        if self.ms < 1:
            raise JobError(f"SearchJob.ms must be positive, not {self.ms}")
        for ply in self.plies:
            if not 0 <= ply <= len(self.moves):
                raise JobError(f"SearchJob.plies: {ply} is not from 0 to {len(self.moves)}")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What the engine says of the position after ``ply`` moves: its move, empty while it searches, and the
    comment that a record would have.
    """

    ply: int
    move: str
    comment: str


@dataclass(frozen=True, slots=True)
class SearchNews:
    """The state of a search: the evaluations since the last news, and whether its slot has done with it.

    ``why`` is the fault of the engine that ends it, in a sentence; without one, what is missing waits.
    """

    search: str
    worker: str
    found: tuple[Evaluation, ...]
    is_over: bool = False
    why: str = ""


# Requests of a worker, each a POST with a worker token, and the answers


class Work(enum.StrEnum):
    """What a slot takes."""

    GAMES = "games"
    CHECKS = "checks"
    """Compliance checks, and the games of validations."""
    ANALYSIS = "analysis"
    """Searches that people ask for: slots of games and of checks take them."""
    OWN = "own"
    """Games that a user's own worker plays; such a worker asks for games, and its token decides."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A free slot asks for work. ``ask`` is a UUID; the same one gets the same answer again.

    ``takes`` has the most urgent first. ``holds`` has the jobs that the slot still has, unsent reports
    included: what else it had taken, also in an earlier ``run``, waits again. ``run`` is the UUID of
    the worker's start.
    """

    ask: str
    worker: str
    run: str
    slot: int
    takes: tuple[Work, ...]
    holds: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_uuid(self.ask, "Ask.ask")
        _check_uuid(self.run, "Ask.run")
        _check_slot(self.slot, "Ask.slot")
        if len(self.holds) > MAX_HELD:
            raise JobError(f"Ask.holds must name at most {MAX_HELD} jobs")
        for job in self.holds:
            _check_uuid(job, "Ask.holds")


@dataclass(frozen=True, slots=True)
class Batch:
    """The answer: jobs to play in order, all with the same id ``job``, or a check or search with this id.

    The site takes everything back that it hears nothing of for ``lease_s`` seconds, or a third less.
    """

    job: str
    lease_s: int
    jobs: tuple[GameJob, ...] = ()
    check: ComplianceJob | None = None
    search: SearchJob | None = None


@dataclass(frozen=True, slots=True)
class Post:
    """What a slot tells of a job; it also renews the job's lease. May be repeated.

    ``reports`` are of finished games; ``returned`` are attempts that the slot does not play (to their end).
    """

    worker: str
    run: str
    slot: int
    reports: tuple[GameReport, ...] = ()
    returned: tuple[str, ...] = ()
    progress: Progress | None = None
    news: ComplianceNews | None = None
    search: SearchNews | None = None

    def __post_init__(self) -> None:
        _check_uuid(self.run, "Post.run")
        _check_slot(self.slot, "Post.slot")


@dataclass(frozen=True, slots=True)
class PostAnswer:
    """The reports are stored, or refused for ever. ``stop`` has the attempts that the slot must not play on.

    It has the id of a check or search if that must stop. ``known`` is the number of plies that the site has
    of the game whose progress was posted. Its moves are wanted as often as ``pace_ms`` says; 0 if nobody
    watches it.
    """

    stop: tuple[str, ...] = ()
    known: int = 0
    pace_ms: int = 0


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The state of a worker, posted every few seconds and once more when it stops.

    ``worker`` is its name, the same at every start; ``run`` is new at each start. ``slots``, ``busy`` and
    ``held`` are numbers of slots; a held slot failed its self-test. ``games`` and ``voids`` count from the
    start. ``speed`` is measured by ``workers.play.environment``. ``level`` is the sandbox level;
    ``refusal`` is the reason why the worker does not run uploaded bots, empty if it runs them. ``trouble`` is
    the reason why its slots are held, or else empty.
    """

    worker: str
    run: str
    host: str
    takes: tuple[Work, ...]
    version: str
    slots: int
    busy: int
    held: int
    games: int
    voids: int
    games_an_hour: int
    speed: str
    level: str
    refusal: str
    trouble: str
    stopping: bool

    def __post_init__(self) -> None:
        _check_uuid(self.run, "Heartbeat.run")


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether the site gives this worker work, and why not, in a sentence."""

    admitted: bool
    why: str = ""


def name_of(worker: str) -> str:
    """The worker's name in a report's ``worker``: ``players@east/4711`` is a slot of ``players@east``."""
    return worker.rpartition("/")[0] or worker


def _check_uuid(text: str, where: str) -> None:
    try:
        is_uuid = str(uuid.UUID(text)) == text
    except ValueError:
        is_uuid = False
    if not is_uuid:
        raise JobError(f"{where} must be a UUID in its usual form, not {text[:40]!r}")


def _check_slot(slot: int, where: str) -> None:
    if not 0 <= slot < MAX_SLOTS:
        raise JobError(f"{where} must be from 0 to {MAX_SLOTS - 1}, not {slot}")
