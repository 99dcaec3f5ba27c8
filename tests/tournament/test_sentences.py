"""Sentences made of stored reasons, in views and in templates."""

from __future__ import annotations

import pytest
from django.template import engines

from tournament.sentences import as_sentence


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        ("the bundle is empty", "The bundle is empty."),
        ("bot.toml has no name", "bot.toml has no name."),
        ("'a<b' is damaged", "'a<b' is damaged."),
    ],
)
def test_a_reason_becomes_a_sentence(reason: str, sentence: str) -> None:
    assert as_sentence(reason) == sentence


def test_templates_escape_a_reason_after_making_it_a_sentence() -> None:
    page = engines["django"].from_string("{{ reason|sentence }}").render({"reason": "it is <b>"})
    assert page == "It is &lt;b&gt;."
