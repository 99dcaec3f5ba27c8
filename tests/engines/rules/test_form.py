"""The form in which the rules run in these tests: compiled or plain Python."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

from engines import compiled, rules

RULES = Path(rules.__file__).parent


def test_these_rules_run_compiled_where_they_were_compiled() -> None:
    build = RULES.parent / "build" / compiled.build_name(str(RULES))
    in_use = str(importlib.import_module("engines.rules.base").__file__)
    assert in_use.endswith(compiled.SUFFIX) == (build.is_dir() and not compiled.pure_is_asked_for())


@pytest.mark.parametrize("name", compiled.compiled_names(str(RULES)))
def test_a_module_has_its_docstring_in_either_form(name: str) -> None:
    source = (RULES / f"{name}.py").read_text()
    module = importlib.import_module(f"engines.rules.{name}")
    assert module.__doc__ == ast.get_docstring(ast.parse(source), clean=False)
