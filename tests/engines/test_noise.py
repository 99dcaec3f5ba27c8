"""``python -m engines`` with arbitrary arguments: an answer, or one sentence and exit code 2."""

from __future__ import annotations

import contextlib
import io

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.__main__ import main
from engines.rules import GAMES
from tests.engines.rules.test_position_strings import TEXTS, TOKENS
from tests.support.effort import EXAMPLES
from tests.support.fuzz import noise

games = st.sampled_from([*GAMES]) | noise([*GAMES])
fens = st.sampled_from(TEXTS) | noise(TEXTS)
tokens = st.sampled_from(TOKENS) | noise(TOKENS)
starts: st.SearchStrategy[list[str]] = st.builds(list) | fens.map(lambda fen: ["--fen", fen])


@st.composite
def commands(draw: st.DrawFn) -> list[str]:
    """A command line that makes sense at first sight; ``perft`` stays shallow."""
    name = draw(st.sampled_from(["games", "perft", "moves", "play", "show", "verify", "zap"]))
    words = [] if name == "games" else [draw(games)]
    if name == "perft":
        words.append(draw(st.sampled_from(["0", "1", "-1", "01", "x", "", "9" * 5000, "\u0661"])))
    if name == "play":
        words += draw(st.lists(tokens, max_size=4))
    if name == "show":
        words += draw(st.sampled_from([[], ["--svg"]]))
    return [name, *words, *draw(starts)]


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
@given(commands() | st.lists(noise(["moves", *GAMES]), max_size=4))
def test_any_arguments_are_answered_or_refused_in_a_sentence(arguments: list[str]) -> None:
    out, complaint = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(complaint):
        try:
            code = main(arguments)
        except SystemExit as leaving:
            code = int(leaving.code or 0)
    assert code in (0, 2)
    assert bool(complaint.getvalue()) == (code == 2)
