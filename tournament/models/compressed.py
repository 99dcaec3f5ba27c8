"""Texts that are stored compressed: the field of records, and the engines' logs, which are kept for a time.

zlib with a dictionary of frequent words; a short text is then half as long as without the dictionary.
"""

from __future__ import annotations

import datetime
import zlib
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from engines.terminations import Fault
from tournament.models.tournaments import Tournament

LEVEL = 6
"""The level of zlib; level 9 makes the logs of sample bots 0.7 % smaller. A test of zstd is in
CHANGELOG.md."""
FORM = b"\x01"
"""The first byte of every compressed text: another dictionary would be another form."""
DICTIONARY = (
    b"\n> ugi\n< id name \n< id author \n"
    b"< option name  type spin default 0 min 0 max combo string check var \n< ugiok\n"
    b"> setoption name UGI_Variant value \n> setoption name UGI_Seed value \n> uginewgame\n"
    b"> isready\n< readyok\n> gameover p1win p2win draw\n"
    b"> go movetime nodes depth p1time 1000 p2time 1000 p1inc 50 p2inc 50\n"
    b"< info depth 1 seldepth 1 score cp mate -100 nodes 1000 time 10 nps 100000 string pv "
    b'\n< bestmove \n> position fen \n> position startpos moves "]\n[Reason ""]\n'
    b'[PlyLimit ""]\n[OpeningPlies "4"]\n[WhiteScore ""]\n[BlackScore ""]\n[Evidence ""]\n'
    b'[Rated "no"]\n[FEN ""]\n[SetUp "1"]\n[Termination "illegal move"]\n[Fault "white"]\n'
    b'[Termination "time forfeit"]\n[Fault "black"]\n[Termination "adjudication"]\n'
    b'[Termination "resignation"]\n[Termination "repetition"]\n[Event ""]\n'
    b'[Site "http://127.0.0.1:8000"]\n[Date "2026.01.01"]\n[Round "1"]\n[White ""]\n'
    b'[Black ""]\n[Result "1/2-1/2"]\n[Result "0-1"]\n[Result "1-0"]\n[Game ""]\n'
    b'[Termination "rules"]\n[Reason ""]\n[Fault "none"]\n[PlyCount "30"]\n'
    b'[TimeControl "5+0.05"]\n[WhiteVersion "1"]\n[BlackVersion "1"]\n[GameId "/1/1/1"]\n'
    b'[OpeningPlies "4"]\n[Walls "level B, SIGSTOP"]\n[Walls "level A, freezer"]\n'
    b'[WorkerSpeed "30.0"]\n[Seed "1"]\n\n'
    b"1. {book} 1... {book} 2. {book} 2... {book} 3. {+0.00/1 0.000s} 3... {-0.00/2 0.001s "
    b"1000n} 4. {#+1/1 0.01s cpu 0.010s pv } 4... {0.100s} 5. 5... 6. 6... 7. 7... 8. 8... "
    b"9. 9... 10. 10... 11. 11... 12. 12... 13. 13... 14. 14... 15. 15... 16. 16... 17. "
    b"17... 18. 18... 19. 19... 20. 20... 1/2-1/2 0-1 1-0\n"
)
"""Frequent words of logs and records; the most frequent last, as zlib advises."""


def compress_text(text: str) -> bytes:
    packer = zlib.compressobj(LEVEL, zdict=DICTIONARY)
    return FORM + packer.compress(text.encode()) + packer.flush()


def decompress_text(content: bytes) -> str:
    """The text that was compressed; raises ``ValueError`` for content of another form."""
    if content[:1] != FORM:
        raise ValueError(f"compressed text of an unknown form: {content[:1]!r}")
    return zlib.decompressobj(zdict=DICTIONARY).decompress(content[1:]).decode()


class CompressedTextField(models.BinaryField):  # type: ignore[type-arg]
    """A text that is compressed in the database; bytes that are assigned to it are compressed already."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"editable": True, **kwargs})

    def from_db_value(self, value: Any, *_: object) -> str | None:
        return None if value is None else decompress_text(bytes(value))

    def to_python(self, value: Any) -> Any:
        return value

    def value_to_string(self, obj: models.Model) -> str:
        return str(self.value_from_object(obj))

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        packed = compress_text(value) if isinstance(value, str) else value
        return super().get_db_prep_value(packed, connection, prepared)


def pack_log(stderr: str, lines: str) -> bytes:
    """The two texts of a log in the form in which they are stored."""
    return compress_text(f"{len(stderr)}\n{stderr}{lines}")


def unpack_log(content: bytes) -> tuple[str, str]:
    """The texts that ``pack_log`` packed."""
    size, _, text = decompress_text(content).partition("\n")
    return text[: int(size)], text[int(size) :]


class GameLogQuerySet(models.QuerySet["GameLog"]):
    def expired(self, now: datetime.datetime, *, kept_long: bool) -> GameLogQuerySet:
        """The logs that have been kept for their time, the oldest first."""
        since = now - datetime.timedelta(days=days_kept(kept_long=kept_long))
        return self.filter(kept_long=kept_long, stored_at__lt=since).order_by("stored_at")


class GameLog(models.Model):
    """The output of one side's engine; visible only to that bot's owner and to staff."""

    class Side(models.TextChoices):
        WHITE = "white", "white"
        BLACK = "black", "black"

    game = models.ForeignKey("Game", on_delete=models.CASCADE, related_name="logs", db_index=False)
    side = models.CharField(max_length=5, choices=Side.choices)
    content = models.BinaryField()
    """See ``pack_log``."""
    kept_long = models.BooleanField(default=False)
    """Whether it shows a fault or belongs to a validation."""
    stored_at = models.DateTimeField(default=timezone.now)

    objects = GameLogQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["game", "side"], name="log_once_a_side")]
        indexes: ClassVar = [models.Index(fields=["kept_long", "stored_at"], name="log_age")]

    def __str__(self) -> str:
        return f"{self.side} log of {self.game_id}"

    @property
    def stderr(self) -> str:
        return unpack_log(bytes(self.content))[0]

    @property
    def lines(self) -> str:
        """The lines exchanged: ``> `` to the engine, ``< `` from it."""
        return unpack_log(bytes(self.content))[1]


def is_kept_long(fault: str, tournament: Tournament) -> bool:
    """Whether the logs of a game of this tournament, with this fault, are kept for long."""
    return fault != Fault.NONE or not tournament.format.is_public


def days_kept(*, kept_long: bool) -> int:
    """How many days logs are kept."""
    return settings.FAULT_LOG_DAYS if kept_long else settings.LOG_DAYS
