"""Names the compiled rules are written with, which mean nothing where they run as plain Python.

The rules are one set of .py files that run as they stand, or compiled by mypyc.
``i64`` is a machine word to the compiler: it wraps silently, so nothing may outgrow it;
as plain Python it is ``int``. This module itself is never compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_extensions import i64 as i64
    from mypy_extensions import mypyc_attr as mypyc_attr
else:
    i64 = int

    def mypyc_attr(*names: str, **values: Any) -> Callable[[type], type]:
        """What the compiler is told of a class; the class stays as it is."""
        return lambda decorated: decorated
