"""The probe notices each missing protection. Its engine does no harm, so protections may be removed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.support.hostile.removals import remove_protections
from workers.engine.sandbox_probe import _try_to_escape
from workers.sandbox.sandbox import Sandbox

PROTECTIONS = (
    "folders not shown",
    "namespace of the network",
    "namespace of processes",
    "environment of bwrap",
    "closed root",
    "system call filter",
    "hard limits",
    "limits of the first process",
)


@pytest.fixture(autouse=True)
def _closed_again() -> Iterator[None]:
    yield
    patch.stopall()


def test_nothing_is_missing_in_a_complete_sandbox(level_b: Sandbox) -> None:
    assert _try_to_escape(level_b) == []


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_a_missing_protection_is_noticed(protection: str, level_b: Sandbox) -> None:
    assert _try_to_escape(remove_protections((protection,), level_b, Path(tempfile.gettempdir())))
