"""The tables, by subject: people, bots and their compliance checks, ladders, tournaments, games, feeds,
saved analyses, webhooks, evidence.

Begin with `games.py`. Methods of a model concern one row, methods of a queryset several. A change of several
rows at once, or one whose message may be delivered twice, is a service (``tournament.services``).
"""

from tournament.models.analyses import Analysis
from tournament.models.bots import ActiveVersion, Bot, BotVersion, Bundle
from tournament.models.compliance import ComplianceCheck
from tournament.models.compressed import GameLog
from tournament.models.dumps import Dump
from tournament.models.evidence import Evidence
from tournament.models.explorer import ExplorerMove, ExplorerProgress, ExplorerVisit
from tournament.models.feeds import FeedEntry, Follow
from tournament.models.games import Attempt, Correction, Game, GameRecord, LiveGame, Seat
from tournament.models.jobs import Job
from tournament.models.ladders import (
    Ladder,
    LadderEstimate,
    LadderRating,
    PairOutcome,
    PairScore,
    RatingEvent,
)
from tournament.models.matchmaking import LatestPairing, Matchmaking
from tournament.models.people import Act, Allowance, KeptAnswer, Notice, Token, User, WaitingMail
from tournament.models.searches import BotSearch, PersonGame
from tournament.models.shares import SlotUse
from tournament.models.similarity import SampledMoves
from tournament.models.site import Door, EventCount, Ignored, InboxReport, Keeper, SigningKey
from tournament.models.tournaments import Entry, MeetingScore, OwnRatings, Pairing, Tournament
from tournament.models.version_tests import CountedPair, VersionTest
from tournament.models.webhooks import Webhook, WebhookDelivery, WebhookProgress
from tournament.models.workers import Worker, WorkerName

__all__ = [
    "Act",
    "ActiveVersion",
    "Allowance",
    "Analysis",
    "Attempt",
    "Bot",
    "BotSearch",
    "BotVersion",
    "Bundle",
    "ComplianceCheck",
    "Correction",
    "CountedPair",
    "Door",
    "Dump",
    "Entry",
    "EventCount",
    "Evidence",
    "ExplorerMove",
    "ExplorerProgress",
    "ExplorerVisit",
    "FeedEntry",
    "Follow",
    "Game",
    "GameLog",
    "GameRecord",
    "Ignored",
    "InboxReport",
    "Job",
    "Keeper",
    "KeptAnswer",
    "Ladder",
    "LadderEstimate",
    "LadderRating",
    "LatestPairing",
    "LiveGame",
    "Matchmaking",
    "MeetingScore",
    "Notice",
    "OwnRatings",
    "PairOutcome",
    "PairScore",
    "Pairing",
    "PersonGame",
    "RatingEvent",
    "SampledMoves",
    "Seat",
    "SigningKey",
    "SlotUse",
    "Token",
    "Tournament",
    "User",
    "VersionTest",
    "WaitingMail",
    "Webhook",
    "WebhookDelivery",
    "WebhookProgress",
    "Worker",
    "WorkerName",
]
