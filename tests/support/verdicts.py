"""Checks the database of a site after all games are played: each is recorded once, and ratings are right."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from django.db.models import Count

from engines.records import Record, read_headers, read_records, verify_record
from engines.rules.registry import GAMES


def find_faults() -> Iterator[str]:
    """Yields a sentence for each error."""
    yield from _games()
    yield from _attempts()
    yield from _records()
    yield from _sequences()
    yield from _seats()
    yield from _ratings()
    yield from _tournaments()
    yield from _ladders()


def _games() -> Iterator[str]:
    from tournament.models import Game, LiveGame

    for game in Game.objects.exclude(state=Game.State.DONE):
        yield f"game {game.key} is {game.state}, not done: {game.evidence}"
    for game in Game.objects.filter(state=Game.State.DONE, result__isnull=True):
        yield f"game {game.key} is done and has no result"
    for live in LiveGame.objects.select_related("game"):
        yield f"game {live.game.key} is still shown as being played"


def _attempts() -> Iterator[str]:
    """Exactly one attempt of each game is recorded, its current one; all others have ended."""
    from tournament.models import Attempt, Game

    recorded = Attempt.objects.filter(end=Attempt.End.RECORDED).values_list(
        "game__key", "id", "game__attempt"
    )
    times = Counter(key for key, _, _ in recorded)
    for key in Game.objects.values_list("key", flat=True):
        if times[key] != 1:
            yield f"game {key} has {times[key]} recorded attempts"
    for key, attempt, current in recorded:
        if attempt != current:
            yield f"game {key} has the result of attempt {attempt}, and its own is {current}"
    for key in Attempt.objects.filter(ended_at__isnull=True).values_list("game__key", flat=True):
        yield f"an attempt of game {key} has no end"


def _records() -> Iterator[str]:
    """Each game has one record, which agrees with its row and with the rules."""
    from tournament.models import Game, GameRecord

    texts = dict(GameRecord.objects.values_list("game__key", "text"))
    games = list(Game.objects.select_related("white__bot", "black__bot"))
    for key in {game.key for game in games} ^ set(texts):
        yield f"game {key} has no record, or its record no game"
    for game in games:
        for record in read_records(io.StringIO(texts.get(game.key, "")), game.key):
            if not isinstance(record, Record):
                yield f"game {game.key}: {record}"
                continue
            yield from (f"game {game.key}: {sentence}" for sentence in verify_record(record))
            recorded = (
                record.header("GameId"),
                record.header("White"),
                record.header("Black"),
                str(record.result),
            )
            stored = (game.key, game.white.bot.name, game.black.bot.name, str(game.result))
            if recorded != stored:
                yield f"game {game.key} is {stored}, and its record has {recorded}"


def _sequences() -> Iterator[str]:
    """A ladder's games are numbered without gaps, and the ladder has the last number."""
    from tournament.models import Game, Ladder

    for ladder in Ladder.objects.all():
        numbers = list(Game.objects.by_completion(ladder.pk).values_list("sequence", flat=True))
        if numbers != list(range(1, len(numbers) + 1)) or ladder.sequence != len(numbers):
            yield f"{ladder.pk} has {len(numbers)} games and last number {ladder.sequence}: {numbers}"


def _seats() -> Iterator[str]:
    from tests.support.seats import wrong_seats

    return wrong_seats()


def _ratings() -> Iterator[str]:
    """Ratings are equal to those rebuilt from the tables, and from what is published.

    That is the records and the list of annulled games.
    """
    from tournament.models import GameRecord, RatingEvent
    from tournament.services.results.corrections import COLUMNS, published_corrections, read_corrections
    from tournament.services.results.exact import exact_from_records, exact_from_tables
    from tournament.services.results.rebuilding import rebuild
    from tournament.views.exports import attached_csv

    events = RatingEvent.objects.values("game__key").annotate(count=Count("id")).exclude(count=2)
    for key, count in events.values_list("game__key", "count"):
        yield f"game {key} has {count} steps of ratings"
    listed = attached_csv(COLUMNS, published_corrections(), "annulled.csv").content.decode()
    corrections = read_corrections(listed, "annulled.csv")
    for code in GAMES:
        published = GameRecord.objects.filter(game__ladder=code).order_by("game__sequence")
        text = "".join(published.values_list("text", flat=True))
        (alone,) = exact_from_records([code], read_headers(io.StringIO(text), code), corrections)
        if str(alone) != str(exact_from_tables(code)):
            yield f"{code}: its records give other ratings"
        if rebuild(code)[0].changed:
            yield f"{code}: rebuilt ratings differ"


def _tournaments() -> Iterator[str]:
    from tests.support.meeting_scores import recounted, stored
    from tournament.models import Game, Tournament

    right, kept = recounted(), stored()
    for row in right | kept:
        if right.get(row) != kept.get(row):
            yield f"the games of {row} are {right.get(row)}, and counted as {kept.get(row)}"
    for tournament in Tournament.objects.all():
        games = Game.objects.filter(tournament=tournament)
        counts = (tournament.games_done, tournament.games_total, games.done().count(), games.count())
        over = Tournament.State.RUNNING if tournament.format.is_endless else Tournament.State.FINISHED
        if tournament.state != over or len(set(counts)) != 1:
            yield f"{tournament.name} is {tournament.state} with {counts} games"


def _ladders() -> Iterator[str]:
    """Each pair counted by a matchmaker exists once, with both games."""
    from tournament.models import Matchmaking, Pairing

    for made in Matchmaking.objects.all():
        pairs = Pairing.objects.filter(tournament__kind="ladder", ladder=made.ladder_id)
        counted = pairs.annotate(count=Count("games")).order_by("round").values_list("round", "count")
        if list(counted) != [(number, 2) for number in range(1, made.pairs_made + 1)]:
            yield f"{made} has made {made.pairs_made} pairs; by number there are these games: {list(counted)}"


def digest_games() -> str:
    """A digest of the tournaments' games by key: players, moves and results, without times and workers."""
    from tournament.models import GameRecord

    lines = []
    texts = GameRecord.objects.exclude(game__tournament__kind="ladder")
    for text in texts.order_by("game__key").values_list("text", flat=True):
        for record in read_records(io.StringIO(text), "record"):
            assert isinstance(record, Record)
            headers = (record.header(name) for name in ("GameId", "White", "Black", "Termination"))
            lines.append(" ".join((*headers, str(record.result), *(move.token for move in record.moves))))
    return _digest(lines)


def digest_tables() -> str:
    """A digest of all tournaments' standings and their own ratings, to the bit."""
    from tournament.models import BotVersion, Tournament
    from tournament.services.schedule.tables import tables_of, tournament_table

    lines = []
    for tournament in Tournament.objects.exclude(kind="ladder").order_by("id"):
        versions = list(BotVersion.objects.filter(entries__tournament=tournament).order_by("entries__number"))
        for table in tables_of(tournament, versions):
            # Sorted, because the order of opponents is that of the database.
            rows = [replace(row, versus=dict(sorted(row.versus.items()))) for row in table.crosstable.rows]
            lines.append(f"{tournament.name} {table.ladder} {rows}")
            standings = sorted(tournament_table(tournament, table.ladder).items())
            lines += [f"{pk} {row.rating.mu.hex()} {row.rating.sigma.hex()}" for pk, row in standings]
    return _digest(lines)


def _digest(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
