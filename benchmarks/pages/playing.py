"""Plays waiting games in bulk: random games by strength, stored without the record keeper and not rated.

The records of games with the same moves are the same text, with the headers of stand-ins.
"""

from __future__ import annotations

import datetime
import random
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from django.db import transaction

from engines.records import Fault, Termination, format_record
from engines.rules.base import Reason, Result, Side
from engines.rules.history import History
from engines.rules.playout import Dice
from engines.rules.registry import find_game
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
)  # fmt: skip
from tournament.models.compressed import compress_text, is_kept_long, pack_log
from tournament.services.bulk import insert_rows, update_rows
from tournament.services.results.records import record_of
from tournament.services.results.storing import may_be_rated
from tournament.services.schedule.finishing import count_finished
from workers.jobs import BOOK, GameReport, SideLog

CHUNK: Final = 5_000
WORKERS: Final = tuple(f"players@host{number}" for number in range(1, 5))
SAMPLES: Final = 12
"""Games of each opening, from which the games of this opening are chosen by their results."""
DRAWS, FORFEITS = 0.12, 0.01
LOGGED: Final = 20
"""Every game of this number has logs; the others' logs have been deleted."""
LOG: Final = pack_log("", "".join(f"> go\n< info depth {n} score cp {7 * n}\n" for n in range(1, 120)))


@dataclass(frozen=True, slots=True)
class Sample:
    """A random game: the columns of its result, and the text of its record, compressed."""

    result: Result
    columns: dict[str, Any]
    record: bytes
    fault: Fault = Fault.NONE


@lru_cache(maxsize=20_000)
def samples_of(ladder: str, opening: str, forfeit: bool) -> tuple[Sample, ...]:
    return tuple(_play(ladder, opening, forfeit, seed) for seed in range(1, SAMPLES + 1))


def _play(ladder: str, opening: str, forfeit: bool, seed: int) -> Sample:
    dice, history = Dice(seed), History(find_game(ladder))
    moves = []
    for token in opening.split():
        history.play(token)
        moves.append((token, BOOK))
    most = len(moves) + dice.draw(40) if forfeit else 10**6
    while not history.outcome.decided and len(moves) < most:
        token = history.position.move_at(dice.draw(history.position.count_moves()))
        history.play(token)
        moves.append(
            (token, f"{dice.draw(600) / 100 - 3:+.2f}/{dice.draw(16) + 4} {dice.draw(400) / 1000:.3f}s")
        )
    outcome, side = history.outcome, history.position.side
    fault = Fault.NONE if outcome.decided else Fault.of(side)
    result = (
        outcome.result
        if outcome.decided
        else Result.win_for(Side.WHITE if side is Side.BLACK else Side.BLACK)
    )
    termination = Termination.RULES if outcome.decided else (Termination.TIME, Termination.CRASH)[seed % 2]
    scores = (outcome.white_score, outcome.black_score) if outcome.decided else (None, None)
    reason = outcome.reason if outcome.decided else Reason.NONE
    day = "1999-09-09T00:00:00+00:00"
    report = GameReport(
        "game", "", f"{WORKERS[0]}/1", result, termination, reason, fault,
        "" if outcome.decided else "no answer", *scores, tuple(moves), day, day, SideLog(), SideLog(),
    )  # fmt: skip
    versions = [BotVersion(bot=Bot(name=name), number=1) for name in ("White", "Black")]
    game = Game(
        key="game", ladder_id=ladder, pairing=Pairing(round=1, opening=opening, seed=0), white=versions[0],
        black=versions[1], tournament=Tournament(name="Stand-in", time_control="5+0.05"),
    )  # fmt: skip
    columns = {
        "result": str(result), "termination": str(termination), "reason": str(reason), "fault": str(fault),
        "evidence": report.evidence, "white_score": scores[0], "black_score": scores[1], "plies": len(moves),
    }  # fmt: skip
    record = format_record(record_of(game, report, rated=True))
    return Sample(result, columns, compress_text(record), fault)


class BulkPlay:
    """Plays games at even distances from a time on; ``strengths`` are Elo by version id."""

    def __init__(
        self, strengths: dict[int, float], begin: datetime.datetime, step: datetime.timedelta, seed: int = 1
    ) -> None:
        self.versions = BotVersion.objects.select_related("bot").in_bulk()
        self.strengths, self.now, self.step = strengths, begin, step
        self.source = random.Random(seed)
        self.sequences = dict(Ladder.objects.values_list("code", "sequence"))
        self.workers = WorkerName.objects.ids(WORKERS)

    def play(self, tournament: Tournament, most: int | None = None) -> int:
        """Play the waiting games in their order, at most ``most``; returns their number."""
        waiting = tournament.games.filter(state=Game.State.WAITING).order_by("id")
        columns = ("id", "ladder", "white", "black", "pairing__opening")
        rows, total = iter(waiting.values_list(*columns)[:most]), 0
        while chunk := list(islice(rows, CHUNK)):
            with transaction.atomic():
                self._store(tournament, chunk)
            total += len(chunk)
        return total

    def _store(self, tournament: Tournament, games: Sequence[tuple[Any, ...]]) -> None:
        attempts, changes, records, logs = [], [], [], []
        for pk, ladder, white, black, opening in games:
            sample = self._choose(ladder, opening, white, black)
            self.now += self.step
            self.sequences[ladder] = sequence = self.sequences.get(ladder, 0) + 1
            attempt, worker = (
                uuid.UUID(int=self.source.getrandbits(128), version=4),
                self.source.choice(WORKERS),
            )
            begun = self.now - datetime.timedelta(seconds=3)
            attempts.append({
                "id": attempt, "job": attempt, "game_id": pk, "assigned": worker, "worker": f"{worker}/1",
                "sent_at": begun, "started_at": begun, "expected_s": 1.0, "lease_until": self.now,
                "ended_at": self.now, "end": Attempt.End.RECORDED.value,
            })  # fmt: skip
            pair = (self.versions[version] for version in (white, black))
            rated = may_be_rated(Game(tournament=tournament, white=next(pair), black=next(pair)))
            changes.append(({
                "state": Game.State.DONE.value, "attempt": attempt, "sequence": sequence, "rated": rated,
                "fingerprint": f"{pk:032}", "started_at": begun, "finished_at": self.now,
                "played_by": self.workers[worker], **sample.columns,
            }, {"id": pk}))  # fmt: skip
            records.append({"game_id": pk, "text": sample.record})
            if sequence % LOGGED == 0:
                logs += list(self._logs(pk, sample, tournament))
        insert_rows(Attempt, attempts)
        update_rows(Game, changes)
        insert_rows(GameRecord, records)
        insert_rows(GameLog, logs)
        for ladder in {row[1] for row in games}:
            Ladder.objects.filter(pk=ladder).update(sequence=self.sequences[ladder])
        count_finished(tournament.pk, len(games))

    def _logs(self, pk: int, sample: Sample, tournament: Tournament) -> Iterator[dict[str, Any]]:
        for side in GameLog.Side.values:
            kept_long = is_kept_long(sample.fault, tournament)
            yield {"game_id": pk, "side": side, "content": LOG, "kept_long": kept_long, "stored_at": self.now}

    def _choose(self, ladder: str, opening: str, white: int, black: int) -> Sample:
        """A game of this opening, with a result drawn by the strengths if there is one."""
        gap = self.strengths.get(white, 0.0) - self.strengths.get(black, 0.0)
        wins = (1 - DRAWS) / (1 + 10 ** (-gap / 400))
        results = (Result.DRAW, Result.WHITE_WINS, Result.BLACK_WINS)
        (wanted,) = self.source.choices(results, (DRAWS, wins, 1 - DRAWS - wins))
        known = samples_of(ladder, opening, self.source.random() < FORFEITS)
        return self.source.choice([sample for sample in known if sample.result is wanted] or known)
