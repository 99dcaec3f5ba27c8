"""Game records: PGN with the moves of our games. The page for users is RECORDS.md.

``build_record`` makes a record, ``format_record`` writes it and ``read_records`` reads it again.
``verify_record`` replays a record and lists what is wrong with it. Begin with ``model.py``. The files to
which records are written are not here: see ``workers.match.recordfile`` and ``tournament.services.results``.
"""

from engines.records.build import (
    RecordEvent,
    RecordOutcome,
    RecordPlayers,
    RecordSettings,
    build_headers,
    build_record,
)
from engines.records.clocks import CLOCK_FIELD, MARGIN_HEADERS, MARGIN_MS
from engines.records.headers import (
    SIDE_CONTROLS,
    Disagreement,
    check_rules_version,
    side_controls,
    start_history,
)
from engines.records.model import (
    MoveNote,
    Record,
    RecordError,
    RecordMove,
    Source,
    note_from_info,
    note_of_time,
)
from engines.records.notes import BOOK, format_note, parse_note
from engines.records.reader import (
    read_first_side,
    read_headers,
    read_moves,
    read_records,
    read_scores,
    read_times,
    turned_at,
)
from engines.records.verify import ONE_SIDED, find_disagreements, replay_record, verify_record
from engines.records.writer import clean_text, format_headers, format_moves, format_record
from engines.terminations import Fault, Termination

__all__ = [
    "BOOK",
    "CLOCK_FIELD",
    "MARGIN_HEADERS",
    "MARGIN_MS",
    "ONE_SIDED",
    "SIDE_CONTROLS",
    "Disagreement",
    "Fault",
    "MoveNote",
    "Record",
    "RecordError",
    "RecordEvent",
    "RecordMove",
    "RecordOutcome",
    "RecordPlayers",
    "RecordSettings",
    "Source",
    "Termination",
    "build_headers",
    "build_record",
    "check_rules_version",
    "clean_text",
    "find_disagreements",
    "format_headers",
    "format_moves",
    "format_note",
    "format_record",
    "note_from_info",
    "note_of_time",
    "parse_note",
    "read_first_side",
    "read_headers",
    "read_moves",
    "read_records",
    "read_scores",
    "read_times",
    "replay_record",
    "side_controls",
    "start_history",
    "turned_at",
    "verify_record",
]
