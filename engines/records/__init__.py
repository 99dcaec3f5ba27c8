"""Game records: PGN with the moves of our games. The page for users is RECORDS.md.

``build_record`` makes a record, ``format_record`` writes it and ``read_records`` reads it again.
``verify_record`` replays a record and lists what is wrong with it.
``parse_analysis`` and ``format_analysis`` read and write records with variations. Begin with ``model.py``.
The files to which records are written are not here: see ``workers.match.recordfile`` and
``tournament.services.results``.
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
from engines.records.notes import BOOK, format_note, format_score, parse_note
from engines.records.reader import (
    read_first_side,
    read_headers,
    read_moves,
    read_records,
    read_scores,
    read_times,
    turned_at,
)
from engines.records.variations import (
    MAX_TREE_COMMENT,
    MAX_TREE_MOVES,
    MoveTree,
    TreeMove,
    compact_tree,
    format_analysis,
    parse_analysis,
    played_headers,
    replay_tree,
    shorten_notes,
)
from engines.records.verify import ONE_SIDED, find_disagreements, replay_record, verify_record
from engines.records.writer import clean_text, format_headers, format_moves, format_record
from engines.terminations import Fault, Termination

__all__ = [
    "BOOK",
    "CLOCK_FIELD",
    "MARGIN_HEADERS",
    "MARGIN_MS",
    "MAX_TREE_COMMENT",
    "MAX_TREE_MOVES",
    "ONE_SIDED",
    "SIDE_CONTROLS",
    "Disagreement",
    "Fault",
    "MoveNote",
    "MoveTree",
    "Record",
    "RecordError",
    "RecordEvent",
    "RecordMove",
    "RecordOutcome",
    "RecordPlayers",
    "RecordSettings",
    "Source",
    "Termination",
    "TreeMove",
    "build_headers",
    "build_record",
    "check_rules_version",
    "clean_text",
    "compact_tree",
    "find_disagreements",
    "format_analysis",
    "format_headers",
    "format_moves",
    "format_note",
    "format_record",
    "format_score",
    "note_from_info",
    "note_of_time",
    "parse_analysis",
    "parse_note",
    "played_headers",
    "read_first_side",
    "read_headers",
    "read_moves",
    "read_records",
    "read_scores",
    "read_times",
    "replay_record",
    "replay_tree",
    "shorten_notes",
    "side_controls",
    "start_history",
    "turned_at",
    "verify_record",
]
