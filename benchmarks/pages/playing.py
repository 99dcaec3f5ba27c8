"""Plays waiting games in bulk: the rows are those that the record keeper stores, without its messages.

A test compares them with the keeper's. Ratings are left to a rebuild.
"""

from __future__ import annotations

import datetime
import random
import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple

from django.db import transaction

from benchmarks.pages.samples import SampleGame, Samples
from engines.records import Fault, format_record
from engines.rules.base import Result
from engines.rules.registry import find_game
from tournament.arithmetic.ratings import fingerprint
from tournament.models import (
    Attempt,
    Bot,
    BotVersion,
    Game,
    GameLog,
    GameRecord,
    Ladder,
    Pairing,
    Tournament,
    WorkerName,
)
from tournament.models.compressed import compress_text, is_kept_long, pack_log
from tournament.services.bulk import insert_rows, update_rows
from tournament.services.results.records import record_of, without_rating
from tournament.services.results.storing import may_be_rated
from tournament.services.schedule.finishing import count_finished
from workers.game.seeds import derive_seed
from workers.jobs import GameReport, SideLog

CHUNK: Final = 5_000
WORKERS: Final = tuple(f"players@host{number}" for number in range(1, 5))
DRAWS: Final = 0.12
FORFEITS: Final = 0.01
LOGGED: Final = 20
"""Every game of this number has logs; the others' logs have been deleted."""
LOG: Final = SideLog("", "".join(f"> go\n< info depth {n} score cp {7 * n}\n" for n in range(1, 120)))
_PACKED_LOG: Final = pack_log(LOG.stderr, LOG.lines)
_DAY: Final = "1999-09-09"
_STAND_INS: Final = {
    "White Stand-In": "white",
    "Black Stand-In": "black",
    "900000001": "white_number",
    "900000002": "black_number",
    "900000003": "round",
    "stand/in/key": "key",
    _DAY.replace("-", "."): "date",
    str(derive_seed(0, "stand/in/key")): "seed",
}
"""Values in the record of a game that is not stored, and what takes their place."""


class PlayedGame(NamedTuple):
    """What is known of a game before it is stored."""

    pk: int
    key: str
    ladder: str
    white: int
    black: int
    round: int
    opening: str
    seed: int
    sample: SampleGame
    started: datetime.datetime
    finished: datetime.datetime
    worker: str
    logged: bool

    def report(self, attempt: str) -> GameReport:
        """The report from which the record keeper stores the same rows."""
        sample, log = self.sample, LOG if self.logged else SideLog()
        return GameReport(
            self.key, attempt, f"{self.worker}/1", sample.result, sample.termination, sample.reason,
            sample.fault, sample.evidence, sample.white_score, sample.black_score, sample.moves,
            self.started.isoformat(), self.finished.isoformat(), log, log,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Stored:
    """A played game with the values that are decided in the order of completion."""

    played: PlayedGame
    sequence: int
    rated: bool
    mark: str


class BulkPlay:
    """Plays games one after another, from a time on and at even distances.

    ``strengths`` are Elo by version id.
    """

    def __init__(
        self, strengths: dict[int, float], begin: datetime.datetime, step: datetime.timedelta, seed: int = 1
    ) -> None:
        versions = BotVersion.objects.select_related("bot").in_bulk()
        self.versions = versions
        self.strengths, self.now, self.step = strengths, begin, step
        self.samples, self.source = Samples(seed), random.Random(seed)
        self.sequences = dict(Ladder.objects.values_list("code", "sequence"))
        self.workers = WorkerName.objects.ids(WORKERS)
        self.marks: set[str] = set()
        self._count = 0

    def plan(self, tournament: Tournament, most: int | None = None) -> Iterator[PlayedGame]:
        """The tournament's waiting games in their order, at most ``most``, with what is going to happen."""
        waiting = tournament.games.filter(state=Game.State.WAITING).order_by("id")
        columns = ("id", "key", "ladder", "white", "black", "pairing__round", "pairing__opening",
                   "pairing__seed")  # fmt: skip
        rows: list[Any] = list(waiting.values_list(*columns)[:most])
        for row in rows:
            _, _, ladder, white, black, _, opening, _ = row
            sample = self.samples.choose(
                ladder, opening, self._result(white, black), forfeit=self.source.random() < FORFEITS
            )
            self._count += 1
            self.now += self.step
            seconds = datetime.timedelta(milliseconds=50 * len(sample.moves) + self.source.randrange(2000))
            worker = self.source.choice(WORKERS)
            ending = (sample, self.now - seconds, self.now, worker, not self._count % LOGGED)
            yield PlayedGame._make((*row, *ending))

    def play(self, tournament: Tournament, most: int | None = None) -> int:
        """Play and store; returns the number of games."""
        games, total = self.plan(tournament, most), 0
        while chunk := list(islice(games, CHUNK)):
            with transaction.atomic():
                self._store(tournament, [self._decide(tournament, played) for played in chunk])
            total += len(chunk)
        return total

    def _result(self, white: int, black: int) -> Result:
        """Drawn by the strengths."""
        gap = self.strengths.get(white, 0.0) - self.strengths.get(black, 0.0)
        expected = 1 / (1 + 10 ** (-gap / 400))
        chance = self.source.random()
        if chance < DRAWS:
            return Result.DRAW
        is_win = (chance - DRAWS) / (1 - DRAWS) < expected
        return Result.WHITE_WINS if is_win else Result.BLACK_WINS

    def _decide(self, tournament: Tournament, played: PlayedGame) -> _Stored:
        """As the record keeper numbers and rates it: of identical games only the first is rated."""
        self.sequences[played.ladder] = sequence = self.sequences.get(played.ladder, 0) + 1
        white, black = self.versions[played.white], self.versions[played.black]
        mark = fingerprint(
            (white.bot.name, white.number), (black.bot.name, black.number), _start(played.ladder),
            (token for token, _ in played.sample.moves),
        )  # fmt: skip
        rated = mark not in self.marks and may_be_rated(Game(tournament=tournament, white=white, black=black))
        if rated:
            self.marks.add(mark)
        return _Stored(played, sequence, rated, mark)

    def _store(self, tournament: Tournament, games: Sequence[_Stored]) -> None:
        attempts = [uuid.UUID(int=self.source.getrandbits(128), version=4) for _ in games]
        insert_rows(Attempt, map(_attempt, games, attempts))
        update_rows(
            Game,
            [
                (_result(one, pk) | {"played_by": self.workers[one.played.worker]}, {"id": one.played.pk})
                for one, pk in zip(games, attempts, strict=True)
            ],
        )
        insert_rows(
            GameRecord,
            (
                {"game_id": one.played.pk, "text": compress_text(self._record(tournament, one))}
                for one in games
            ),
        )
        insert_rows(GameLog, (row for one in games for row in _logs(one.played, tournament.kind)))
        for ladder in {one.played.ladder for one in games}:
            Ladder.objects.filter(pk=ladder).update(sequence=self.sequences[ladder])
        self._count_forfeits(tournament, games)
        count_finished(tournament.pk, len(games))

    def _record(self, tournament: Tournament, stored: _Stored) -> str:
        played = stored.played
        white, black = self.versions[played.white], self.versions[played.black]
        is_repeat = not stored.rated and may_be_rated(Game(tournament=tournament, white=white, black=black))
        texts = _record_parts(
            tournament, played.ladder, played.sample, played.opening, stored.rated, is_repeat
        )
        values = {
            "white": white.bot.name,
            "black": black.bot.name,
            "white_number": str(white.number),
            "black_number": str(black.number),
            "round": str(played.round),
            "key": played.key,
            "date": f"{played.started:%Y.%m.%d}",
            "seed": str(derive_seed(played.seed, played.key)),
        }
        return "".join(values.get(name, text) for text, name in texts)

    def _count_forfeits(self, tournament: Tournament, games: Sequence[_Stored]) -> None:
        """As ``withdrawal.count_forfeits`` does; no version gets as many as withdraw it."""
        if tournament.kind == Tournament.Kind.VALIDATION:
            return
        counts: dict[int, int] = {}
        for one in games:
            for pk, fault in ((one.played.white, Fault.WHITE), (one.played.black, Fault.BLACK)):
                before = counts.get(pk, self.versions[pk].forfeits)
                counts[pk] = before + 1 if one.played.sample.fault is fault else 0
        for pk, count in counts.items():
            if count != self.versions[pk].forfeits:
                BotVersion.objects.filter(pk=pk).update(forfeits=count)
                self.versions[pk].forfeits = count


@lru_cache
def _start(ladder: str) -> str:
    return str(find_game(ladder).position.initial())


def _attempt(one: _Stored, pk: uuid.UUID) -> dict[str, Any]:
    played = one.played
    return {
        "id": pk,
        "job": pk,
        "game_id": played.pk,
        "assigned": played.worker,
        "worker": f"{played.worker}/1",
        "sent_at": played.started,
        "started_at": played.started,
        "expected_s": 1.0,
        "lease_until": played.finished,
        "ended_at": played.finished,
        "end": Attempt.End.RECORDED.value,
    }


def _result(one: _Stored, attempt: uuid.UUID) -> dict[str, Any]:
    """The columns of a game that its end sets."""
    played, sample = one.played, one.played.sample
    return {
        "state": Game.State.DONE.value,
        "attempt": attempt,
        "result": str(sample.result),
        "termination": str(sample.termination),
        "reason": str(sample.reason),
        "fault": str(sample.fault),
        "evidence": sample.evidence,
        "white_score": sample.white_score,
        "black_score": sample.black_score,
        "plies": len(sample.moves),
        "sequence": one.sequence,
        "rated": one.rated,
        "fingerprint": one.mark,
        "started_at": played.started,
        "finished_at": played.finished,
    }


def _logs(played: PlayedGame, kind: str) -> Iterator[dict[str, Any]]:
    """Two rows of a game whose logs are kept."""
    if played.logged:
        for side in GameLog.Side.values:
            yield {
                "game_id": played.pk,
                "side": side,
                "content": _PACKED_LOG,
                "kept_long": is_kept_long(played.sample.fault, kind),
                "stored_at": played.finished,
            }


@lru_cache(maxsize=20_000)
def _record_parts(
    tournament: Tournament, ladder: str, sample: SampleGame, opening: str, rated: bool, is_repeat: bool
) -> list[tuple[str, str]]:
    """The text of a record in parts, each with the name of the value that takes its place, or empty."""
    game = Game(
        key="stand/in/key",
        tournament=tournament,
        ladder_id=ladder,
        pairing=Pairing(round=900000003, opening=opening, seed=0),
        white=BotVersion(bot=Bot(name="White Stand-In"), number=900000001),
        black=BotVersion(bot=Bot(name="Black Stand-In"), number=900000002),
    )
    begun = datetime.datetime.fromisoformat(f"{_DAY}T00:00:00+00:00")
    played = PlayedGame(
        0, game.key, ladder, 0, 0, 0, opening, 0, sample, begun, begun, WORKERS[0], logged=False
    )
    record = record_of(game, played.report(""), rated=rated or is_repeat)
    if is_repeat:
        record = without_rating(record)
    pieces = re.split(f"({'|'.join(map(re.escape, _STAND_INS))})", format_record(record))
    return [(piece, _STAND_INS.get(piece, "")) for piece in pieces]
