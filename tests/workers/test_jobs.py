"""Jobs and reports: encoding and decoding give the same values, and other input is refused."""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import json
import re
import typing
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from engines.rules.base import Reason, Result
from engines.rules.registry import GAMES
from workers import jobs
from workers.jobs import (
    PROTOCOL,
    Admission,
    Ask,
    Batch,
    DrawRule,
    EngineSpec,
    GameJob,
    GameReport,
    JobError,
    JobGame,
    Post,
    PostAnswer,
    Progress,
    ResignRule,
    SearchJob,
    SideLog,
    Work,
)
from workers.messages import MAX_TOLD, decode

SPEC = EngineSpec("Stone Age", "1.2", ("python3", "main.py"), "ab" * 32, options=(("Hash", "16"),))
JOB = GameJob(
    job="0b5e",
    game="dogon-kulei",
    engines=(SPEC, EngineSpec("Other", "", ("./run",), directory="/home/a", time_control="9+0")),
    games=(JobGame("1/1/1/1", "a1", 0), JobGame("1/1/1/2", "a2", 1)),
    time_control="1+0.1",
    opening=("c1+", "f2-"),
    ply_limit=80,
    seed=7,
    draw=DrawRule(40, 8, 10),
    resign=ResignRule(3, 600),
)
REPORT = GameReport(
    key="1/1/1/1",
    attempt="a1",
    worker="host-1",
    result=Result.WHITE_WINS,
    termination="time forfeit",
    reason=Reason.NONE,
    fault="black",
    evidence="took 1.2 s of 1.0 s",
    white_score=None,
    black_score=20,
    moves=(("c1+", "book"), ("f2-", "+0.35/12 0.104s")),
    started="2026-01-01T00:00:00Z",
    finished="2026-01-01T00:00:09Z",
    white=SideLog("é\n", "> go\n"),
    black=SideLog(),
)
PROGRESS = Progress("k", "a", 3, (("c1", ""),), None, 5)
RUN = "7c5f9d58-0e16-4745-a790-859851d1c079"
ASK = Ask(RUN, "w", RUN, 3, (Work.GAMES,), (RUN,))
SEARCH = SearchJob(RUN, SPEC, "dogon-kulei", None, ("c1+",), (0, 1), 100)
POST = Post("w", RUN, 0, (REPORT,), ("a2",), PROGRESS)
VALUES = [
    *(SPEC, JOB, REPORT, PROGRESS, POST, ASK, SEARCH, PostAnswer(("a",), 3)),
    *(Batch(RUN, 30, (JOB,)), Admission(False, "why")),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_message_comes_back_equal_from_json(value: object) -> None:
    assert decode(type(value), msgspec.json.encode(value)) == value


def test_enums_come_back_as_enums() -> None:
    report = decode(GameReport, msgspec.json.encode(REPORT))
    assert report.result is Result.WHITE_WINS
    assert report.reason is Reason.NONE


def test_fields_with_defaults_may_be_missing() -> None:
    given = b'{"name": "A", "version": "", "command": ["x"]}'
    assert decode(EngineSpec, given) == EngineSpec("A", "", ("x",))


def test_what_only_the_owner_of_an_engine_decides_is_not_received() -> None:
    with pytest.raises(JobError, match="unknown field `margin_ms`"):
        decode(EngineSpec, altered(SPEC, margin_ms=7))


def altered(message: object, **changes: Any) -> bytes:
    return json.dumps(msgspec.to_builtins(message) | msgspec.to_builtins(changes)).encode()


@pytest.mark.parametrize(
    ("kind", "value", "complaint"),
    [
        (GameJob, b"null", "GameJob: Expected `object`, got `null`"),
        (GameJob, b"[]", "GameJob: Expected `object`, got `array`"),
        (JobGame, b'{"key": "k", "white": 0}', "JobGame: Object missing required field `attempt`"),
        (Ask, altered(ASK, run="x"), "Ask.run must be a UUID in its usual form, not 'x'"),
        (Ask, altered(ASK, slot=-1), "Ask.slot must be from 0 to"),
        (Ask, altered(ASK, takes=["tea"]), "Ask.takes[0]: Invalid enum value 'tea'"),
        (Ask, altered(ASK, holds=["x"]), "Ask.holds must be a UUID"),
        (GameJob, altered(JOB, colour=1), "GameJob: Object contains unknown field `colour`"),
        (
            GameJob,
            altered(JOB, games=[{"key": "k", "attempt": "a", "white": 0, "x": 1}]),
            "GameJob.games[0]: Object contains unknown field `x`",
        ),
        (GameJob, altered(JOB, draw={"moves": 1}), "GameJob.draw: Object missing required field"),
        (GameJob, altered(JOB, seed="7"), "GameJob.seed: Expected `int`, got `str`"),
        (GameJob, altered(JOB, seed=True), "GameJob.seed: Expected `int`, got `bool`"),
        (GameJob, altered(JOB, seed=1.0), "GameJob.seed: Expected `int`, got `float`"),
        (GameJob, altered(JOB, game=None), "GameJob.game: Expected `str`, got `null`"),
        (GameJob, altered(JOB, opening="c1"), "GameJob.opening: Expected `array`, got `str`"),
        (GameJob, altered(JOB, opening=["c1", 2]), "GameJob.opening[1]: Expected `str`, got `int`"),
        (GameJob, altered(JOB, engines=[SPEC]), "GameJob.engines: Expected `array` of length 2"),
        (GameJob, altered(JOB, margin_ms=-1), "margin_ms must not be negative, not -1"),
        (JobGame, b'{"key": "k", "attempt": "a", "white": 2}', "JobGame.white must be 0 or 1, not 2"),
        (EngineSpec, altered(SPEC, bundle="../x"), "must be a SHA-256 in lower-case hex, not '../x'"),
        (EngineSpec, altered(SPEC, bundle="AB" * 32), "lower-case hex"),
        (EngineSpec, altered(SPEC, command=[]), "command must not be empty"),
        (EngineSpec, altered(SPEC, options=[["Hash"]]), "options[0]: Expected `array` of length 2"),
        (GameReport, altered(REPORT, result="2-0"), "GameReport.result: Invalid enum value '2-0'"),
        (GameReport, altered(REPORT, white={"stderr": 1}), "GameReport.white.stderr: Expected `str`"),
        (GameReport, altered(REPORT, white_score=2**63), "GameReport.white_score: Expected `int` <= "),
        (DrawRule, altered(JOB.draw, score=10**30), "DrawRule.score: Expected `int` <= "),
    ],
)
def test_anything_unexpected_is_refused_by_name(kind: type, value: bytes, complaint: str) -> None:
    with pytest.raises(JobError, match=re.escape(complaint)):
        decode(kind, value)


def test_a_long_refusal_is_cut() -> None:
    with pytest.raises(JobError) as refused:
        decode(GameReport, altered(REPORT, result="x" * 10_000))
    assert len(str(refused.value)) == MAX_TOLD


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"NaN", b'{"lines": NaN}', rb'{"lines": "\ud800"}', b'{"lines": "\xed\xa0\x80"}', b"\xff"],
)
def test_what_is_not_json_or_not_text_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"JSON|Input data|codec") as refused:
        decode(SideLog, text)
    assert not isinstance(refused.value, JobError)


AGREED = {7: "0c170855dd29584e"}
"""The digest of all messages and of the rules' versions for numbers of ``PROTOCOL``; release 0.1.0 had 1."""


def enums_in(kind: Any) -> Iterator[type[enum.Enum]]:
    """The enums in a field's type."""
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        yield kind
    for part in typing.get_args(kind):
        yield from enums_in(part)


def describe(message: type) -> Iterator[str]:
    """A line for each field: its type, its enums' values, and whether it may be missing."""
    kinds = typing.get_type_hints(message)
    for one in dataclasses.fields(message):
        values = [value.value for kind in enums_in(kinds[one.name]) for value in kind]
        may_be_missing = one.default is not dataclasses.MISSING
        yield f"{message.__name__}.{one.name}: {kinds[one.name]} {values} {may_be_missing}"


def agreement(messages: list[type]) -> str:
    """The digest of what a site and its workers must agree on."""
    lines = sorted({line for cls in messages for line in describe(cls)})
    rules = [f"{code}: rules {game.rules_version}" for code, game in sorted(GAMES.items())]
    return hashlib.sha256("\n".join(lines + rules).encode()).hexdigest()[:16]


def test_a_changed_message_or_rule_raises_the_number() -> None:
    kinds = [each for each in vars(jobs).values() if isinstance(each, type)]
    digest = agreement([kind for kind in kinds if dataclasses.is_dataclass(kind)])
    assert AGREED.get(PROTOCOL) == digest, (
        f"messages or rules differ from version {PROTOCOL}: raise PROTOCOL in workers/jobs.py, unless no "
        f"release has this number yet, and add its digest {digest!r} to AGREED"
    )


def test_every_part_of_a_message_is_guarded() -> None:
    """A field, its type, an enum's value, and whether a field may be missing, each change the digest."""

    class Colour(enum.Enum):
        RED = "red"

    class Shade(enum.Enum):
        RED = "dark red"

    changes: list[dict[str, Any]] = [
        {"fields": [("text", str)]},
        {"fields": [("name", str)]},
        {"fields": [("text", int)]},
        {"fields": [("text", str, "")]},
        {"fields": [("text", tuple[Colour, ...])]},
        {"fields": [("text", tuple[Shade, ...])]},
    ]
    made = [dataclasses.make_dataclass("Message", each["fields"]) for each in changes]
    assert len({agreement([cls]) for cls in made}) == len(made)
