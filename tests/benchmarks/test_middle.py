"""The count of what is between a waiting game and a stored result."""

from __future__ import annotations

from pathlib import Path

from benchmarks.middle import statements_of, words_of

MODULE = """
class WorkState(enum.StrEnum):
    IDLE = "idle"
    TAKEN_BACK = "back"


class Lease:
    seconds = 30


class _Hidden:
    pass
"""


def test_nouns_are_the_words_of_modules_public_classes_and_enums(tmp_path: Path) -> None:
    path = tmp_path / "free_slots.py"
    path.write_text(MODULE)
    assert [*words_of(path)] == "free slots Work State IDLE TAKEN BACK Lease".split()
    assert statements_of(path) == 7
