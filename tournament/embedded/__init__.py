"""The whole site as one command on one machine: what ``./arena up`` and ``./arena demo`` run.

Begin with ``instance.py`` and ``plan.py``. A supervisor starts an embedded Redis, the site, the record
keeper, the beat and the game workers as processes, restarts them if they die and stops them in order. No
other package depends on this one: on many machines Docker or systemd starts the same processes.
"""


class StartError(Exception):
    """Why a command of ``./arena`` does not do its work; the text is a sentence for the user."""

    status = 1
    """The exit code."""
