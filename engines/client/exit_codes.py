"""The exit codes of the commands that ask a site.

0 means that what was asked for is done, and that the answer to a question is yes.
"""

from __future__ import annotations

NO = 1
"""The site refused what it was given, such as a bundle."""
CANNOT = 2
"""Nothing is known: the options are wrong, or the site cannot be asked."""
UNDECIDED = 3
"""The time was up."""


class TimeIsUp(Exception):
    """What a command waits for has not happened in time; the text is a sentence."""
