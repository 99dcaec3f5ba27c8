"""Rules, protocol, records, SDK and sample bots for engine authors. Standard library only.

Begin with `rules/base.py` and `protocol/messages.py`; an author begins with `README.md`. Games between
engines are played in `workers`, which also has the sandbox.
"""

from engines import compiled as _compiled

__version__ = "0.2.0"

_compiled.install()
