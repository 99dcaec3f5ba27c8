"""The exit codes of the commands that ask a site.

0 means that what was asked for is done, and that the answer to a question is yes.
"""

from __future__ import annotations

from collections.abc import Iterable

NO = 1
"""The site refused what it was given, such as a bundle, or the answer of a test is no."""
CANNOT = 2
"""Nothing is known: the options are wrong, or the site cannot be asked."""
UNDECIDED = 3
"""The time was up, or a test ended without an answer."""


MEANINGS = (
    "Exit codes: 0 done, or yes; 1 refused, or no; 2 not known; 3 the time was up, or undecided;"
    " 130 interrupted."
)


def worst(codes: Iterable[int]) -> int:
    """The exit code of several: one that is not known, then no, then undecided."""
    found = set(codes)
    return next((code for code in (CANNOT, NO, UNDECIDED) if code in found), 0)
