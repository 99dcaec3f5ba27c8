"""Jobs and reports: encoding and decoding give the same values, and other input is refused."""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import json
import typing
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from engines.rules.base import Reason, Result
from engines.rules.registry import GAMES
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
    JsonValue,
    Post,
    PostAnswer,
    Progress,
    ResignRule,
    RestartMode,
    SideLog,
    Work,
)

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
ASK = {"ask": RUN, "worker": "w", "run": RUN, "slot": 3, "takes": ["games"], "holds": []}
POST = Post("w", RUN, 0, (REPORT,), ("a2",), PROGRESS)
VALUES = [
    *(SPEC, JOB, REPORT, PROGRESS, POST, PostAnswer(("a",), 3)),
    *(Ask(RUN, "w", RUN, 3, (Work.GAMES,), (RUN,)), Batch(RUN, 30, (JOB,)), Admission(False, "why")),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_comes_back_equal_from_json_text(value: JsonValue) -> None:
    assert type(value).from_json(json.loads(json.dumps(value.to_json()))) == value


def test_enums_come_back_as_enums() -> None:
    report = GameReport.from_json(json.loads(json.dumps(REPORT.to_json())))
    assert report.result is Result.WHITE_WINS
    assert report.reason is Reason.NONE


def test_fields_with_defaults_may_be_missing() -> None:
    assert EngineSpec.from_json({"name": "A", "version": "", "command": ["x"]}) == EngineSpec("A", "", ("x",))


def test_what_only_the_owner_of_an_engine_decides_is_neither_sent_nor_received() -> None:
    own = replace(SPEC, restart=RestartMode.ON, margin_ms=7, startup_seconds=9, given_command=("bot.zip",))
    assert own.to_json() == SPEC.to_json()
    with pytest.raises(JobError, match="unknown field 'margin_ms'"):
        EngineSpec.from_json(altered(SPEC, margin_ms=7))


def altered(value: JsonValue, **changes: Any) -> dict[str, Any]:
    return value.to_json() | changes


@pytest.mark.parametrize(
    ("kind", "value", "complaint"),
    [
        (GameJob, None, "GameJob must be an object, not null"),
        (GameJob, [], "GameJob must be an object, not list"),
        (JobGame, {"key": "k", "white": 0}, "JobGame lacks attempt"),
        (JobGame, {}, "JobGame lacks key, attempt, white"),
        (Ask, {**ASK, "run": "x"}, "Ask.run must be a UUID in its usual form, not 'x'"),
        (Ask, {**ASK, "slot": -1}, "Ask.slot must be from 0 to"),
        (Ask, {**ASK, "slot": 2**64}, "Ask.slot must be a number of at most 64 bits"),
        (
            Ask,
            {**ASK, "takes": ["tea"]},
            r"Ask.takes\[0\] must be one of 'games', 'checks', 'analysis', not 'tea'",
        ),
        (Ask, {**ASK, "holds": ["x"]}, "Ask.holds must be a UUID"),
        (GameJob, altered(JOB, colour=1), "unknown field 'colour'"),
        (GameJob, altered(JOB, seed="7"), "GameJob.seed must be a whole number, not text"),
        (GameJob, altered(JOB, seed=True), "GameJob.seed must be a whole number, not true or false"),
        (GameJob, altered(JOB, seed=1.0), "GameJob.seed must be a whole number, not float"),
        (GameJob, altered(JOB, game=None), "GameJob.game must be text, not null"),
        (GameJob, altered(JOB, opening="c1"), "GameJob.opening must be a list, not text"),
        (GameJob, altered(JOB, opening=["c1", 2]), r"GameJob.opening\[1\] must be text"),
        (GameJob, altered(JOB, engines=[SPEC.to_json()]), "GameJob.engines must have 2 items, not 1"),
        (GameJob, altered(JOB, margin_ms=-1), "margin_ms must not be negative, not -1"),
        (JobGame, {"key": "k", "attempt": "a", "white": 2}, "JobGame.white must be 0 or 1, not 2"),
        (EngineSpec, altered(SPEC, bundle="../x"), "must be a SHA-256 in lower-case hex, not '../x'"),
        (EngineSpec, altered(SPEC, bundle="AB" * 32), "lower-case hex"),
        (EngineSpec, altered(SPEC, command=[]), "command must not be empty"),
        (EngineSpec, altered(SPEC, options=[["Hash"]]), r"options\[0\] must have 2 items, not 1"),
        (GameReport, altered(REPORT, result="2-0"), "result must be one of '1-0'.* not '2-0'"),
        (GameReport, altered(REPORT, evidence="\ud800"), "evidence contains a lone surrogate"),
        (GameReport, altered(REPORT, white={"stderr": 1}), "SideLog.stderr must be text"),
    ],
)
def test_anything_unexpected_is_refused_by_name(kind: type[JsonValue], value: object, complaint: str) -> None:
    with pytest.raises(JobError, match=complaint):
        kind.from_json(value)


AGREED = {6: "7856f6db0dec5e8b"}
"""The digest of all messages and of the rules' versions for each number of ``PROTOCOL`` since 6."""


def enums_in(kind: Any) -> Iterator[type[enum.Enum]]:
    """The enums in a field's type."""
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        yield kind
    for part in typing.get_args(kind):
        yield from enums_in(part)


def describe(cls: type[JsonValue]) -> Iterator[str]:
    """A line for each field that is sent: its type, its enums' values, and whether it may be missing."""
    kinds = typing.get_type_hints(cls)
    for one in dataclasses.fields(cls):  # type: ignore[arg-type]
        if one.metadata.get("is_sent", True):
            values = [value.value for kind in enums_in(kinds[one.name]) for value in kind]
            may_be_missing = one.default is not dataclasses.MISSING
            yield f"{cls.__name__}.{one.name}: {kinds[one.name]} {values} {may_be_missing}"


def agreement(messages: list[type[JsonValue]]) -> str:
    """The digest of what a site and its workers must agree on."""
    lines = sorted({line for cls in messages for line in describe(cls)})
    rules = [f"{code}: rules {game.rules_version}" for code, game in sorted(GAMES.items())]
    return hashlib.sha256("\n".join(lines + rules).encode()).hexdigest()[:16]


def test_a_changed_message_or_rule_raises_the_number() -> None:
    digest = agreement([cls for cls in JsonValue.__subclasses__() if cls.__module__ == "workers.jobs"])
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
    made = [dataclasses.make_dataclass("Message", each["fields"], bases=(JsonValue,)) for each in changes]
    assert len({agreement([cls]) for cls in made}) == len(made)
