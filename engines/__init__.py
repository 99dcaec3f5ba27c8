"""What an engine author needs: rules, protocol, records, SDK, sample bots. Standard library only."""

from engines import compiled as _compiled

__version__ = "0.1.0"

_compiled.install()
