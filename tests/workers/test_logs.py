"""The lines of logs: text or JSON, with the ids of what they belong to."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from workers.logs import FIELDS, JsonFormatter, TextFormatter, current_ids, log_ids, make_formatter


def record(message: str, *arguments: object, **more: object) -> logging.LogRecord:
    made = logging.LogRecord("tournament.keeper", logging.INFO, "", 1, message, arguments, None)
    made.__dict__.update(more)
    return made


def test_a_line_carries_the_ids_that_are_set_around_it() -> None:
    with log_ids(job="7"), log_ids(game="spring/1/1/1", request=""):
        assert current_ids() == {"job": "7", "game": "spring/1/1/1"}
        text = TextFormatter("%(name)s: %(message)s").format(record("%d games", 2))
        line = json.loads(JsonFormatter().format(record("%d games", 2)))
    assert text == "tournament.keeper: 2 games [job=7 game=spring/1/1/1]"
    assert (line["message"], line["job"], line["game"]) == ("2 games", "7", "spring/1/1/1")
    assert current_ids() == {}
    assert TextFormatter("%(message)s").format(record("later")) == "later"


def test_a_json_line_is_one_line_with_its_values_and_its_traceback() -> None:
    try:
        raise ValueError("two\nlines")
    except ValueError:
        made = record("failed\nhere", **{FIELDS: {"games": ["a", "b"], "worker": object}})
        made.exc_info = sys.exc_info()
    text = JsonFormatter().format(made)
    line = json.loads(text)
    assert "\n" not in text
    assert line["games"] == ["a", "b"]
    assert line["exception"].endswith("ValueError: two\nlines")
    assert line["time"].endswith("+00:00")


@pytest.mark.parametrize(
    ("value", "kind"), [("json", JsonFormatter), ("JSON", JsonFormatter), ("", TextFormatter)]
)
def test_the_environment_chooses_the_form(monkeypatch: pytest.MonkeyPatch, value: str, kind: type) -> None:
    monkeypatch.setenv("DUARENA_LOG", value)
    assert type(make_formatter()) is kind
