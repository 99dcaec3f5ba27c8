"""Names for the compiler in the rules; they have no effect in plain Python.

The same files run as plain Python or compiled by mypyc. Compiled, ``i64`` is a machine
word that wraps silently, so no value may exceed it; in plain Python it is ``int``. A literal
as in ``1 << cell`` has 32 bits there: take such a set from a table. This module itself is never compiled.

Of ``mypyc_attr``, ``free_list_len`` uses the memory of an object again for the next one. Never use
``acyclic``: the compiler (2.4.1) destroys deeply nested objects as if the collector knew all of them.
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
        """A class decorator for the compiler; returns the class unchanged."""
        return lambda decorated: decorated
