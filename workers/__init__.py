"""Plays games: the match runner, the referee, the sandbox, and the workers of a site. No Django.

Begin with `jobs.py` (the values) and `game/referee.py`; `play/runner.py` joins them. Which games are played
is decided in `tournament` or by a match's options; this package has no database and keeps no ratings.
"""

from engines import compiled as _compiled

_compiled.install(_compiled.BuildFinder("workers.game.fastpath", f"{__path__[0]}/game/fastpath"))
