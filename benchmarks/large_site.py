"""Fills a database with ladders and tournaments of many games, for ``pages`` and ``ratings``.

Bots, schedules, rounds and ratings come from the project's services. The games are random ones, stored in
bulk without the record keeper; games with the same moves have the same record, with the headers of stand-ins.
"""

from __future__ import annotations

import datetime
import random
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from engines.formats.planning import PlannedPairing
from engines.pairing.meetings import GAMES_A_PAIR
from engines.records import BOOK, Fault, Termination, format_record
from engines.rules.history import History
from engines.rules.playout import Dice
from engines.rules.registry import GAMES, find_game
from tests.support.filled_site import go_live
from tests.support.schedule import forfeit, make_event, make_version, make_worker
from tournament.formats import FORMATS
from tournament.models import (
    ActiveVersion,
    Attempt,
    Bot,
    BotVersion,
    Game,
    GameLog,
    GameRecord,
    Keeper,
    Ladder,
    LatestPairing,
    Matchmaking,
    Pairing,
    Tournament,
    User,
    Worker,
    WorkerName,
)  # fmt: skip
from tournament.models.compressed import compress_text, pack_log
from tournament.services.bulk import insert_rows, update_rows
from tournament.services.explorer import counting
from tournament.services.results.estimates import refresh_estimates
from tournament.services.results.leaders import follow_leader
from tournament.services.results.rebuilding import rebuild
from tournament.services.results.records import record_of
from tournament.services.results.seats import store_seats
from tournament.services.schedule.finishing import count_finished
from tournament.services.schedule.meetings import rescored
from tournament.services.schedule.pairings import make_games, openings_of, store_pairings
from tournament.services.schedule.rounds import advance_all
from workers.jobs import GameReport, SideLog

DAYS: Final = datetime.timedelta(days=300)
"""The games are spread over this time before now."""
PHASES: Final = 8
"""Ladders and tournaments play in turns, so that the games of each are spread over the whole time."""
OPENINGS: Final = 100
"""Of each ladder."""
CHUNK: Final = 5_000
WORKER: Final = "players@host"
SAMPLES: Final = 12
"""Games of each opening; one more is forfeited."""
FORFEITS: Final = 0.01
LOGGED: Final = 20
"""Every game of this number has logs; the others' logs have been deleted."""
LOG: Final = pack_log("", "".join(f"> go\n< info depth {n} score cp {7 * n}\n" for n in range(1, 120)))
EVENTS: Final[Sequence[dict[str, Any]]] = (
    {"kind": "round-robin", "bots": 100, "pairs": 2},
    {"kind": "swiss", "bots": 64, "rounds": 9},
    {"kind": "gauntlet", "bots": 60, "pairs": 10, "opening_plies": 4},
    {"kind": "knock-out", "bots": 64},
    {"kind": "swiss", "bots": 100, "rounds": 9},
    {"kind": "round-robin", "bots": 100},
)
"""The tournaments with wide tables; only a part of the last one is played."""
SMALL: Final[dict[str, Any]] = {"kind": "round-robin", "bots": 12}
A_SMALL_ONE: Final = 20_000
"""A site has a small tournament for so many games."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A random game: the columns of its result, and the text of its record, compressed."""

    columns: dict[str, Any]
    record: bytes


@lru_cache(maxsize=20_000)
def samples_of(ladder: str, opening: str) -> tuple[Sample, ...]:
    """Games of an opening; the last one is forfeited."""
    reports = [_play(ladder, opening, seed) for seed in range(1, SAMPLES + 1)]
    return tuple(_sample(ladder, report) for report in (*reports, forfeit(reports[0])))


def _play(ladder: str, opening: str, seed: int) -> GameReport:
    dice, history = Dice(seed), History(find_game(ladder))
    moves = [(token, BOOK) for token in opening.split()]
    for token, _ in moves:
        history.play(token)
    while not history.outcome.decided:
        token = history.position.move_at(dice.draw(history.position.count_moves()))
        history.play(token)
        comment = f"{dice.draw(600) / 100 - 3:+.2f}/{dice.draw(16) + 4} {dice.draw(400) / 1000:.3f}s"
        moves.append((token, comment))
    outcome, day = history.outcome, "1999-09-09T00:00:00+00:00"
    return GameReport(
        "game", "", f"{WORKER}/1", outcome.result, Termination.RULES, outcome.reason, Fault.NONE, "",
        outcome.white_score, outcome.black_score, tuple(moves), day, day, SideLog(), SideLog(),
    )  # fmt: skip


def _sample(ladder: str, report: GameReport) -> Sample:
    white, black = (BotVersion(bot=Bot(name=name), number=1) for name in ("White", "Black"))
    game = Game(
        key="game", ladder_id=ladder, pairing=Pairing(round=1, seed=0), white=white, black=black,
        tournament=Tournament(name="Stand-in", time_control="5+0.05"),
    )  # fmt: skip
    texts = ("result", "termination", "reason", "fault", "evidence")
    columns: dict[str, Any] = {name: str(getattr(report, name)) for name in texts}
    columns |= {"white_score": report.white_score, "black_score": report.black_score}
    columns["plies"] = len(report.moves)
    return Sample(columns, compress_text(format_record(record_of(game, report, None))))


class LargeSite:
    """``fill`` makes everything, ``make_bots`` and ``play_ladders`` ladders that are not rated."""

    def __init__(
        self,
        games: int,
        *,
        bots: int = 500,
        versions: int = 3,
        owners: int | None = None,
        entered: int | None = None,
        ladders: Sequence[str] = tuple(GAMES),
        seed: int = 1,
    ) -> None:
        """Each bot has one to ``versions`` versions and plays on ``entered`` of the ladders.

        None stands for half as many owners as bots, and for all ladders.
        """
        self.games, self.bots, self.ladders = games, bots, ladders
        self.most_versions, self.owners = versions, owners or bots // 2
        self.entered = entered or len(ladders)
        self.source = random.Random(seed)
        self.now, self.step = timezone.now() - DAYS, DAYS / games

    def fill(self) -> None:
        """The ladders play what tournaments leave of the games."""
        self.make_bots()
        begun = Game.objects.count()
        events = [*(self.games // A_SMALL_ONE * [SMALL]), *EVENTS]
        for phase in range(PHASES):
            for event in events[phase::PHASES]:
                self.play_event(event, is_last=event is EVENTS[-1])
            left = self.games - (Game.objects.count() - begun)
            self.play_ladders(max(0, left) // (PHASES - phase), phase)
        now = timezone.now()
        for ladder in Ladder.objects.filter(sequence__gt=0):
            rebuild(ladder.pk)
            follow_leader(ladder, now)
        refresh_estimates(now)
        counting.catch_up()
        for game in Game.objects.filter(state=Game.State.WAITING).select_related("pairing")[:8]:
            go_live(game)
        later = now + datetime.timedelta(days=1)  # the record keeper and the workers seem to run till then
        Keeper.objects.update_or_create(pk=1, defaults={"seen_at": later})
        Worker.objects.update(seen_at=later)
        if connection.vendor == "postgresql":  # as its autovacuum does
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE")

    def make_bots(self) -> None:
        """Bots and their versions on the ladders, and the ladders' endless tournaments."""
        Ladder.objects.ensure()
        Matchmaking.objects.ensure()
        make_worker(4, name=WORKER)
        owners = User.objects.bulk_create(User(username=f"owner-{n}") for n in range(1, self.owners + 1))
        with transaction.atomic():
            for number in range(self.bots):
                games = [self.ladders[(number + n) % len(self.ladders)] for n in range(self.entered)]
                for _ in range(number % self.most_versions + 1):
                    make_version(f"Bot {number + 1}", owner=owners[number % len(owners)], games=games)
        self.versions = BotVersion.objects.select_related("bot").in_bulk()
        self.active = {code: self._active_on(code) for code in self.ladders}
        self.worker = WorkerName.objects.ids([WORKER])[WORKER]
        last = Ladder.objects.annotate(last=Max("games__sequence"))
        self.sequences = {code: sequence or 0 for code, sequence in last.values_list("code", "last")}
        self.endless = {code: self._endless(code) for code in self.ladders}

    def _active_on(self, code: str) -> list[BotVersion]:
        active = ActiveVersion.objects.filter(ladder=code).order_by("pk")
        return [self.versions[pk] for pk in active.values_list("version", flat=True)]

    def _players(self, code: str, phase: int) -> list[int]:
        """The version of each bot that plays in this phase: its first in the first, its last in the last."""
        valid: dict[int, list[int]] = defaultdict(list)
        for pk, version in sorted(self.versions.items()):
            if version.state == BotVersion.State.VALID:
                valid[version.bot_id].append(pk)
        found = (valid[version.bot_id] for version in self.active[code])
        return [versions[len(versions) * phase // PHASES] for versions in found]

    def _endless(self, code: str) -> Tournament:
        """The tournament of a ladder's matchmaker, as ``matchmaking`` makes it."""
        made = Tournament.objects.create(
            slug=f"ladder-{code}", name=f"{GAMES[code].name} ladder", kind="ladder",
            state=Tournament.State.RUNNING, ladders=[code], opening_plies=4, time_control="5+0.05", seed=1,
            priority=-100, started_at=timezone.now(),
        )  # fmt: skip
        Matchmaking.objects.filter(pk=code).update(tournament=made, games_an_hour=600, next_at=None)
        return made

    def play_ladders(self, games: int, phase: int = PHASES - 1) -> None:
        """So many games, the same number on each ladder."""
        for code, tournament in self.endless.items():
            pairs = games // len(self.ladders) // GAMES_A_PAIR
            self._play_ladder(tournament, code, pairs, self._players(code, phase))

    def _play_ladder(self, tournament: Tournament, code: str, pairs: int, players: Sequence[int]) -> None:
        made = Matchmaking.objects.get(pk=code).pairs_made
        openings = openings_of(tournament, code, 1, OPENINGS)
        last: dict[int, int] = {}

        def planned() -> Iterator[PlannedPairing]:
            for number in range(made + 1, made + pairs + 1):
                first, second = self.source.sample(players, 2)
                last[first] = last[second] = number
                opening = openings[number % len(openings)]
                yield PlannedPairing(code, number, 1, first, second, opening, seed=number)

        with transaction.atomic():
            store_pairings(tournament, planned(), GAMES_A_PAIR)
        Matchmaking.objects.filter(pk=code).update(pairs_made=made + pairs)
        LatestPairing.objects.filter(ladder=code).delete()
        turns = (
            LatestPairing(ladder_id=code, version_id=pk, pair=number, pairs=60) for pk, number in last.items()
        )
        LatestPairing.objects.bulk_create(turns)
        self._play_games(tournament)

    def play_event(self, terms: dict[str, Any], *, is_last: bool = False) -> None:
        """A tournament on one of the ladders, to its end; if ``is_last``, a half of its games."""
        given = {name: value for name, value in terms.items() if name not in {"kind", "bots"}}
        ladder = self.source.choice(self.ladders)
        active = self.active[ladder]
        event = make_event(
            terms["kind"],
            versions=self.source.sample(active, min(terms["bots"], len(active))),
            ladders=[ladder],
            name=f"{FORMATS[terms['kind']].label.title()} {Tournament.objects.count()}",
            **given,
        )
        while make_games(event):
            pass
        event.refresh_from_db()
        while event.state == Tournament.State.RUNNING:
            self._play_games(event, event.games_total // 2 if is_last else None)
            if is_last:
                break
            advance_all()
            event.refresh_from_db()

    def _play_games(self, tournament: Tournament, most: int | None = None) -> None:
        """Play the waiting games in their order, at most so many."""
        waiting = tournament.games.filter(state=Game.State.WAITING).order_by("id")
        columns = ("id", "ladder", "white", "black", "pairing__opening")
        rows = iter(waiting.values_list(*columns)[:most])
        while chunk := list(islice(rows, CHUNK)):
            with transaction.atomic():
                self._store(tournament, chunk)

    def _store(self, tournament: Tournament, games: Sequence[tuple[Any, ...]]) -> None:
        attempts, changes, records, logs = [], [], [], []
        for pk, ladder, white, black, opening in games:
            *played, forfeited = samples_of(ladder, opening)
            sample = forfeited if self.source.random() < FORFEITS else self.source.choice(played)
            self.now += self.step
            self.sequences[ladder] = sequence = self.sequences[ladder] + 1
            attempt = uuid.UUID(int=self.source.getrandbits(128), version=4)
            begun = self.now - datetime.timedelta(seconds=3)
            attempts.append({
                "id": attempt, "game_id": pk, "worker": f"{WORKER}/1", "sent_at": begun, "started_at": begun,
                "ended_at": self.now, "end": Attempt.End.RECORDED.value,
            })  # fmt: skip
            pair = Game(tournament=tournament, white=self.versions[white], black=self.versions[black])
            changes.append(({
                "state": Game.State.DONE.value, "attempt": attempt, "sequence": sequence,
                "rated": tournament.format.rates(pair), "fingerprint": f"{pk:032}", "started_at": begun,
                "finished_at": self.now, "played_by": self.worker, **sample.columns,
            }, {"id": pk}))  # fmt: skip
            records.append({"game_id": pk, "text": sample.record})
            if sequence % LOGGED == 0:
                log = {"game_id": pk, "content": LOG, "kept_long": False, "stored_at": self.now}
                logs += [{**log, "side": side} for side in GameLog.Side.values]
        insert_rows(Attempt, attempts)
        with rescored(Game.objects.filter(pk__in=[game[0] for game in games])):
            update_rows(Game, changes)
        store_seats(pk for pk, *_ in games)
        insert_rows(GameRecord, records)
        insert_rows(GameLog, logs)
        for ladder in {row[1] for row in games}:
            Ladder.objects.filter(pk=ladder).update(sequence=self.sequences[ladder])
        count_finished(tournament.pk, len(games))
