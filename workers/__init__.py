"""Plays games: the match runner, the referee, the sandbox, and the workers of a site. No Django."""

from engines import compiled as _compiled

_compiled.install(_compiled.BuildFinder("workers.game.fastpath", f"{__path__[0]}/game/fastpath"))
