"""The tables, by subject: people, bots, ladders, tournaments, games.

Rows know themselves and querysets know many; what changes several rows at
once, or may be delivered twice, is a service (``tournament.services``).
"""

from tournament.models.bots import Bot, BotVersion, Bundle
from tournament.models.games import Attempt, Game, GameLog, GameRecord, LiveGame
from tournament.models.ladders import Ladder, LadderRating, PairScore, RatingEvent
from tournament.models.people import User
from tournament.models.site import Ignored, Keeper
from tournament.models.tournaments import Entry, Pairing, Tournament

__all__ = [
    "Attempt",
    "Bot",
    "BotVersion",
    "Bundle",
    "Entry",
    "Game",
    "GameLog",
    "GameRecord",
    "Ignored",
    "Keeper",
    "Ladder",
    "LadderRating",
    "LiveGame",
    "PairScore",
    "Pairing",
    "RatingEvent",
    "Tournament",
    "User",
]
