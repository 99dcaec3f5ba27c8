"""Does an engine keep to the protocol? What its author runs before anybody else does.

``check_engine`` tries one thing after another with a real process and says of each whether it went
well, and if not what came instead and what to do about it. The engine is taken to be hostile: whatever
it does, the check ends within the seconds it was given and leaves nothing behind.

``subject`` is the engine being checked; ``situations`` are the positions it is asked about; ``verdicts``
judge its answers without any process; ``protocol_checks`` and ``playing`` are the checks, which ``run`` has
in one tuple; ``report`` is what the author reads.
"""

from workers.check.report import CheckReport, Finding, format_finding, format_summary
from workers.check.run import check_engine
from workers.check.subject import CannotCheck

__all__ = ["CannotCheck", "CheckReport", "Finding", "check_engine", "format_finding", "format_summary"]
