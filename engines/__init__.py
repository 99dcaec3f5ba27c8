"""Rules, protocol, records, SDK and sample bots for engine authors. Standard library only."""

from engines import compiled as _compiled

__version__ = "0.1.0"

_compiled.install()
