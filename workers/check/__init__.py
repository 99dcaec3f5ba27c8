"""The compliance check: tests with a real process whether an engine follows the protocol.

``check_engine`` runs the checks in order and returns a finding for each: passed, or what the engine did
instead and what its author can do. Engines are assumed to be hostile: the check ends within its time limit
and leaves no process behind.

``checked_engine`` keeps the engine's process (``checked_process``) from check to check; ``account`` reads
what the kernel counts for it; ``situations`` are the positions that are searched; ``verdicts`` judge answers
without a process; ``protocol_checks``, ``playing`` and ``rule_checks`` are the checks, which ``run`` lists in
order; ``report`` formats the findings.
"""

from workers.check.checked_process import CannotCheck
from workers.check.report import CheckReport, format_finding, format_summary
from workers.check.run import check_engine
from workers.jobs import Finding

__all__ = ["CannotCheck", "CheckReport", "Finding", "check_engine", "format_finding", "format_summary"]
