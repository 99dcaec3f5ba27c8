"""Archives of evidence made without a site: rows that a test may change before they are packed."""

from __future__ import annotations

import datetime
import hashlib
import io
import json
import random
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from engines.arithmetic.ratings import (
    BETA,
    MU,
    NEW_VERSION_SIGMA,
    POINTS,
    SIGMA,
    Fold,
    Rating,
    Scale,
    ladder_scale,
    tournament_scale,
)
from engines.estimation.estimates import estimate_columns
from engines.estimation.openings import OpeningScore
from engines.estimation.tallies import TallyColumns
from engines.evidence.archive import EvidenceArchive, open_archive
from engines.evidence.estimate_check import ESTIMATE, EstimateCheck
from engines.evidence.format import (
    BUNDLES,
    EVENT,
    FORMAT,
    MANIFEST,
    RECORDS,
    SIGNATURE,
    TABLES,
    CorrectionEffect,
    EventState,
    EvidenceCorrection,
    EvidenceDocument,
    EvidenceEntry,
    EvidenceEvent,
    EvidenceFile,
    EvidenceGame,
    EvidenceKind,
    EvidenceManifest,
    EvidenceRating,
    EvidenceState,
    EvidenceStrength,
    EvidenceVersion,
    EvidenceWorker,
    LadderConstants,
    format_version,
    parse_version,
    write_document,
    write_line,
)
from engines.evidence.played_games import GameCheck
from engines.evidence.rating_checks import RatingCheck, scale_of
from engines.evidence.reading import read_games
from engines.evidence.report import EvidenceReport
from engines.evidence.schedule_checks import Players
from engines.evidence.signatures import NAMESPACE, Signature, host_of
from engines.evidence.table_checks import TableCheck
from engines.formats import FORMATS
from engines.formats.meetings import ScheduledGame, column_of
from engines.formats.planning import (
    EventOpenings,
    LadderRounds,
    PairingKey,
    PlannedPairing,
    plan_cycles,
    replan_rounds,
)
from engines.pairing.openings import draw_openings
from engines.records import (
    Fault,
    RecordEvent,
    RecordMove,
    RecordOutcome,
    RecordPlayers,
    RecordSettings,
    Termination,
    build_record,
    format_record,
)
from engines.records.seeds import seed_header
from engines.rules.base import Result
from engines.rules.history import History
from engines.rules.registry import GAMES
from tournament.services.signing import public_text, signature_of

SITE = "https://duarena.example"
LADDER = next(iter(GAMES))
AT = "2026-11-29T10:00:00+00:00"
BUNDLE = b"the bundle of Stone Age"
WORKER = "crow"
TIME_CONTROL = "5+0.05"
KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))
SIGNERS = f'{host_of(SITE)} namespaces="{NAMESPACE}" {public_text(KEY)}\n'
"""The keys of the site."""


Checked = Callable[..., tuple[int, str]]
"""Packs a draft and runs the command; returns the exit code and what was printed."""
Differences = Callable[..., list[str]]
"""The same for an archive that must have differences; returns them."""


def lines_of(out: str, verdict: str) -> list[str]:
    return [line.removeprefix(verdict).strip() for line in out.splitlines() if line.startswith(verdict)]


def verify(message: bytes, signature: bytes, signers: str, *, at: object) -> tuple[Signature, str]:
    """Takes the place of ``check_signature``, which needs a program: Ed25519 signs the same bytes equally."""
    if (signers, signature) != (SIGNERS, signature_of(KEY, message)):
        return Signature.BAD, "another signature"
    return Signature.GOOD, host_of(json.loads(message)["site"])


@dataclass(slots=True)
class EvidenceDraft:
    """An archive that is not packed yet."""

    kind: EvidenceKind
    name: str
    document: EvidenceDocument
    rows: dict[str, list[Any]]
    records: list[str]
    bundles: list[bytes] = field(default_factory=list)
    revision: int = 1
    previous: str | None = None
    is_signed: bool = True
    more: dict[str, bytes] = field(default_factory=dict)
    """Files that the manifest does not list."""

    def change(self, name: str, number: int, **values: Any) -> None:
        """Change a row of a file, counted from 0."""
        self.rows[name][number] = replace(self.rows[name][number], **values)

    def files(self) -> dict[str, bytes]:
        """The listed files."""
        return {
            EVENT: write_document(self.document),
            RECORDS: "\n".join(self.records).encode(),
            **{name: b"".join(map(write_line, rows)) for name, rows in self.rows.items()},
            **{f"{BUNDLES}{hashlib.sha256(bundle).hexdigest()}.zip": bundle for bundle in self.bundles},
        }

    def manifest(self, files: dict[str, bytes]) -> bytes:
        listed = {
            name: EvidenceFile(hashlib.sha256(content).hexdigest(), len(content))
            for name, content in sorted(files.items())
        }
        return write_document(
            EvidenceManifest(
                FORMAT,
                self.kind,
                SITE,
                self.name,
                self.name.title(),
                self.revision,
                self.previous,
                "",
                AT,
                "1",
                listed,
            )
        )

    def packed(self) -> dict[str, bytes]:
        files = self.files()
        manifest = self.manifest(files)
        signature = {SIGNATURE: signature_of(KEY, manifest)} if self.is_signed else {}
        return {MANIFEST: manifest, **files, **signature, **self.more}

    def pack(self, path: Path, change: Callable[[dict[str, bytes]], object] = lambda files: None) -> Path:
        """Write the zip; ``change`` may change its files, which the manifest does not know."""
        files = self.packed()
        change(files)
        path.write_bytes(zipped(files.items()))
        return path


def zipped(files: Any) -> bytes:
    """A zip with these names and contents in their order."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def constants(scale: Scale) -> LadderConstants:
    game = GAMES[LADDER]
    return LadderConstants(
        LADDER,
        game.rules_version,
        game.ply_limit,
        MU,
        SIGMA,
        BETA,
        scale.tau,
        NEW_VERSION_SIGMA,
        scale.draw_probability,
        scale.margin,
    )


def event_of(name: str, kind: str, **values: Any) -> EvidenceEvent:
    given: dict[str, Any] = {
        "name": name,
        "title": name.title(),
        "format": kind,
        "state": EventState.FINISHED,
        "ladders": (LADDER,),
        "seed": 7,
        "pairs": 1,
        "rounds": 0,
        "extra_pairs": 0,
        "opening_plies": 2,
        "book": {},
        "time_control": TIME_CONTROL,
        "ply_limit": None,
        "rated": True,
        "off_terms": {},
        "rated_off_terms": False,
        "seeds": {},
        "absent": {},
        "criteria": (),
        "started": AT,
        "finished": AT,
    }
    return EvidenceEvent(**{**given, **values})


def record_of_game(
    row: EvidenceGame, event: EvidenceEvent, result: Result, more: tuple[Any, ...] = ()
) -> str:
    """A record that a resignation, or an agreement on a draw, ended after a few random moves."""
    rng, history = random.Random(row.game), History(GAMES[row.ladder])
    for token in row.opening.split():
        history.play(token)
    loser = None if result is Result.DRAW else int(result is Result.WHITE_WINS)
    plies = len(history.moves) + rng.randrange(4, 12)
    while not history.outcome.decided and (
        len(history.moves) < plies or history.position.side not in (loser, None)
    ):
        if len(history.moves) >= plies and loser is None:
            break
        history.play(rng.choice(list(history.position.legal_moves())))
    assert not history.outcome.decided
    (white, white_number), (black, black_number) = parse_version(row.white), parse_version(row.black)
    given = len(row.opening.split())
    moves = [RecordMove(token, None, number < given) for number, token in enumerate(history.moves)]
    ended = Termination.ADJUDICATION if loser is None else Termination.RESIGNATION
    return format_record(
        build_record(
            moves,
            players=RecordPlayers(white, black, str(white_number), str(black_number)),
            settings=RecordSettings(game=row.ladder, time_control=event.time_control),
            outcome=RecordOutcome(result=result, termination=ended, fault=Fault.NONE),
            event=RecordEvent(
                event=event.title, site=SITE, date="2026.11.29", round_name=str(row.round), game_id=row.game
            ),
            more=(*more, seed_header(row.seed, row.game)),
        )
    )


def versions_of(players: tuple[str, ...]) -> list[EvidenceVersion]:
    """Random is a sample; the first version of Stone Age is published."""
    found = []
    for player in players:
        bot, number = parse_version(player)
        published = (bot, number) == ("Stone Age", 1)
        sha256 = hashlib.sha256(BUNDLE if published else player.encode()).hexdigest()
        owner = None if bot == "Random" else f"owner of {bot}"
        found.append(
            EvidenceVersion(player, owner, sha256, len(BUNDLE), published, "MIT" if published else "")
        )
    return found


LADDER_PLAYERS = ("Random/1", "Stone Age/1", "Greedy/1", "Stone Age/2", "Hexa/1")


def ladder_draft(pairs: int = 12) -> EvidenceDraft:
    """A ladder with the matchmaker's pairs of five versions; Stone Age has two, the second of them later."""
    event = event_of(f"ladder-{LADDER}", "ladder", state=EventState.RUNNING, finished=None)
    rows, records = [], []
    fold = Fold(ladder_scale(LADDER))
    for row, result in _ladder_games(event, pairs):
        rows.append(row)
        records.append(record_of_game(row, event, result))
        fold.step(parse_version(row.white), parse_version(row.black), result)
    document = EvidenceDocument((constants(ladder_scale(LADDER)),), (event,))
    players = tuple(sorted({player for row in rows for player in (row.white, row.black)}, key=parse_version))
    listed: dict[str, list[Any]] = {name: [] for name in TABLES[EvidenceKind.LADDER]}
    listed["schedule.jsonl"] = rows
    listed["versions.jsonl"] = versions_of(players)
    listed["workers.jsonl"] = [EvidenceWorker(WORKER, "1", "level A", len(rows))]
    listed["tables/ratings.jsonl"] = [
        rating_row(format_version(*player), one.rating, one.wins, one.draws, one.losses)
        for player, one in sorted(fold.standings.items())
    ]
    draft = EvidenceDraft(EvidenceKind.LADDER, LADDER, document, listed, records, [BUNDLE])
    listed["tables/estimate.jsonl"] = _estimated(draft)
    return draft


_ONE = {Result.WHITE_WINS: (1, 0, 0), Result.DRAW: (0, 1, 0), Result.BLACK_WINS: (0, 0, 1)}


def _estimated(draft: EvidenceDraft) -> list[EvidenceStrength]:
    """By the arithmetic of a site, from sums that are counted here."""
    results = [Result(record.rsplit(maxsplit=1)[1]) for record in draft.records]
    games = list(zip(draft.rows["schedule.jsonl"], results, strict=True))
    players = [one.version for one in draft.rows["versions.jsonl"]]
    ids = {player: number for number, player in enumerate(players)}
    scores = [(ids[row.white], ids[row.black], *_ONE[result]) for row, result in games]
    pairs = [
        (ids[row.white], ids[row.black], str(result), str(second), 1)
        for (row, result), (_, second) in zip(games[::2], games[1::2], strict=True)
    ]
    halves: dict[str, list[int]] = {}
    for row, result in games:
        halves.setdefault(row.opening, []).append(round(2 * POINTS[result]))
    openings = [OpeningScore(len(points), sum(points)) for points in halves.values()]
    columns = TallyColumns.of_games(TallyColumns.of_scores(scores), TallyColumns.of_pairs(pairs))
    found = estimate_columns(range(len(players)), columns, openings).anchored(ids["Random/1"])
    advantage = EvidenceStrength(LADDER, None, found.advantage.elo, found.advantage.error)
    return [
        advantage,
        *(EvidenceStrength(LADDER, players[at], one.elo, one.error) for at, one in found.strengths.items()),
    ]


def rating_row(version: str, rating: Rating, wins: int, draws: int, losses: int) -> EvidenceRating:
    return EvidenceRating(LADDER, version, *rating, wins, draws, losses, rating.conservative)


def _ladder_games(event: EvidenceEvent, pairs: int) -> Iterator[tuple[EvidenceGame, Result]]:
    rng = random.Random(5)
    for number in range(1, pairs + 1):
        old = LADDER_PLAYERS[:3] if number <= pairs // 2 else LADDER_PLAYERS
        first, second = rng.sample(old, 2)
        if first.split("/")[0] == second.split("/")[0]:
            second = "Random/1"
        seed = zlib.crc32(f"{event.seed}/{LADDER}/{number}/1".encode())
        (opening,) = draw_openings(GAMES[LADDER], event.opening_plies, seed, 1)
        for game in (1, 2):
            white, black = (first, second) if game == 1 else (second, first)
            row = game_row(
                event, number, 1, game, white, black, seed, opening, sequence=2 * number + game - 2
            )
            yield row, rng.choice([Result.WHITE_WINS, Result.DRAW, Result.BLACK_WINS, Result.BLACK_WINS])


def game_row(
    event: EvidenceEvent,
    round_number: int,
    pairing: int,
    number: int,
    white: str,
    black: str,
    seed: int,
    opening: Sequence[str],
    *,
    sequence: int | None,
) -> EvidenceGame:
    """A finished game, which lasted half of its round; a round is an hour."""
    started = datetime.datetime(2026, 11, 28, tzinfo=datetime.UTC) + datetime.timedelta(hours=round_number)
    key = f"{event.name}/{round_number}/{pairing}/{number}"
    words = " ".join(opening)
    return EvidenceGame(
        key, event.name, LADDER, round_number, pairing, number, white, black, seed, words, "",
        EvidenceState.DONE, sequence, "", "", False, event.rated, WORKER, started.isoformat(),
        (started + datetime.timedelta(minutes=30)).isoformat(),
    )  # fmt: skip


ENTERED = ("Random/1", "Stone Age/1", "Greedy/1", "Hexa/1", "Zoo/2")
PLANS: dict[str, dict[str, Any]] = {
    "round-robin": {"pairs": 2},
    "gauntlet": {"pairs": 2},
    "swiss": {"rounds": 3, "pairs": 1, "seeds": {LADDER: ENTERED[::-1]}},
    "knock-out": {"pairs": 1, "extra_pairs": 2, "seeds": {LADDER: ENTERED[::-1]}},
}
"""The terms of a tournament of each format."""


def tournament_draft(
    kind: str, *, withdrawn: str = "", annulled: Collection[int] = (), **terms: Any
) -> EvidenceDraft:
    """A tournament of five versions on one ladder, whose results are drawn; its tables are computed.

    Who is ``withdrawn`` loses its last game without playing. The games with the numbers ``annulled``, from 0,
    are annulled before the next round is drawn.
    """
    criteria = tuple(one.name.lower() for one in FORMATS[kind].order)
    event = event_of("spring", kind, **{"criteria": criteria, **PLANS[kind], **terms})
    listed: dict[str, list[Any]] = {name: [] for name in TABLES[EvidenceKind.TOURNAMENT]}
    listed["versions.jsonl"] = versions_of(tuple(sorted(ENTERED, key=parse_version)))
    entries = listed["entries.jsonl"] = [
        EvidenceEntry(number, version, (LADDER,), version == withdrawn)
        for number, version in enumerate(ENTERED, 1)
    ]
    document = EvidenceDocument((constants(tournament_scale(LADDER)),), (event,))
    draft = EvidenceDraft(EvidenceKind.TOURNAMENT, event.name, document, listed, [], [BUNDLE])
    rng = random.Random(3)
    games: dict[PairingKey, list[ScheduledGame]] = {}
    players = Players.of(event, entries)
    for plan in _plan(players, games):
        for number in (1, 2):
            white, black = (plan.first, plan.second) if number == 1 else (plan.second, plan.first)
            both, sequence = (players.name(white), players.name(black)), len(draft.records) + 1
            row = game_row(
                event, plan.round, plan.number, number, *both, plan.seed, plan.opening, sequence=sequence
            )
            result = rng.choice([Result.WHITE_WINS, Result.DRAW, Result.BLACK_WINS])
            listed["schedule.jsonl"].append(row)
            draft.records.append(record_of_game(row, event, result))
            column = column_of(result, "", is_annulled=len(draft.records) - 1 in annulled)
            game = ScheduledGame(plan.round, white, black, column)
            games.setdefault((LADDER, plan.round, plan.number), []).append(game)
    for number in annulled:
        annul(draft, number, AT)
    if withdrawn:
        _lose_last_game(draft, withdrawn)
    publish_tables(draft)
    return draft


def _plan(players: Players, games: dict[PairingKey, list[ScheduledGame]]) -> Iterator[PlannedPairing]:
    """All pairings; those of later rounds from the results that ``games`` has by then."""
    event = players.event
    draw = EventOpenings(event.opening_plies, event.book).draw
    if players.form.has_cycles:
        yield from plan_cycles(players.form, event.seed, players.entered, range(event.pairs), draw, {})
        return
    terms = players.terms(LADDER, extra=event.extra_pairs)
    ladders = {LADDER: LadderRounds(players.entered[LADDER], [], terms)}
    yield from replan_rounds(players.form, event.seed, ladders, draw, games)


def annul(draft: EvidenceDraft, number: int, at: str) -> None:
    """Annul a finished game; its tables stay."""
    draft.change("schedule.jsonl", number, annulled=True, rated=False)
    game = draft.rows["schedule.jsonl"][number].game
    draft.rows["corrections.jsonl"].append(EvidenceCorrection(game, CorrectionEffect.ANNULLED, "", at))


def _lose_last_game(draft: EvidenceDraft, version: str) -> None:
    rows = draft.rows["schedule.jsonl"]
    at = max(number for number, row in enumerate(rows) if version in (row.white, row.black))
    fault = "white" if rows[at].white == version else "black"
    rows[at] = replace(
        rows[at], state=EvidenceState.HALTED, sequence=None, fault=fault, rated=False, worker="",
        started=None, finished=None,
        reason=f"{version} is withdrawn",
    )  # fmt: skip
    del draft.records[at]


def publish_tables(draft: EvidenceDraft) -> None:
    """Have the tables say what the command computes; tests of the site compare that with its own tables."""
    draft.rows["workers.jsonl"] = [EvidenceWorker(WORKER, "1", "level A", len(draft.records))]
    report = EvidenceReport(lambda line: None)
    with tempfile.TemporaryDirectory() as folder, open_archive(draft.pack(Path(folder, "x.zip"))) as archive:
        ratings = RatingCheck(report, archive, {LADDER: scale_of(draft.kind, LADDER)}, [LADDER])
        more = _estimate if draft.kind is EvidenceKind.LADDER else _tables
        others, computed = more(draft, report, archive, ratings)
        for row, record in read_games(archive, report.begin("records")):
            ratings.add(row, record)
            others.add(row, record)
        draft.rows["tables/ratings.jsonl"] = list(ratings.computed())
        draft.rows.update({name: list(rows) for name, rows in computed().items()})


Computed = tuple[GameCheck, Callable[[], Mapping[str, Iterable[Any]]]]


def _tables(
    draft: EvidenceDraft, report: EvidenceReport, archive: EvidenceArchive, ratings: RatingCheck
) -> Computed:
    players = Players.of(draft.document.events[0], draft.rows["entries.jsonl"])
    check = TableCheck(report, archive, players, ratings)
    return check, check.computed


def _estimate(
    draft: EvidenceDraft, report: EvidenceReport, archive: EvidenceArchive, ratings: RatingCheck
) -> Computed:
    check = EstimateCheck(report, archive)
    return check, lambda: {ESTIMATE: check.computed()}
