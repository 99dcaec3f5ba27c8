"""UGI, the protocol between server and engine, as values: no process, no pipe, no clock.

The page for engine authors is PROTOCOL.md. One frozen dataclass is one message;
``parse_engine_line`` and ``parse_server_line`` read a line and never raise,
``format_message`` writes one. Begin with ``messages.py``.
"""

from engines.protocol.format import ProtocolError, format_message
from engines.protocol.messages import (
    RESIGN,
    SEED_OPTION,
    VARIANT_OPTION,
    BestMove,
    EngineMessage,
    GameOver,
    Go,
    IdAuthor,
    IdName,
    Info,
    IsReady,
    OptionDeclared,
    OptionType,
    Query,
    Question,
    Quit,
    ReadyOk,
    Response,
    ServerMessage,
    SetOption,
    SetPosition,
    Stop,
    Ugi,
    UgiNewGame,
    UgiOk,
    Winner,
)
from engines.protocol.parse import last_info, parse_engine_line, parse_number, parse_server_line
from engines.protocol.score import Score

__all__ = [
    "RESIGN",
    "SEED_OPTION",
    "VARIANT_OPTION",
    "BestMove",
    "EngineMessage",
    "GameOver",
    "Go",
    "IdAuthor",
    "IdName",
    "Info",
    "IsReady",
    "OptionDeclared",
    "OptionType",
    "ProtocolError",
    "Query",
    "Question",
    "Quit",
    "ReadyOk",
    "Response",
    "Score",
    "ServerMessage",
    "SetOption",
    "SetPosition",
    "Stop",
    "Ugi",
    "UgiNewGame",
    "UgiOk",
    "Winner",
    "format_message",
    "last_info",
    "parse_engine_line",
    "parse_number",
    "parse_server_line",
]
