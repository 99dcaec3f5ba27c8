"""Every address of the site, and who may see it: the table that tests and pictures of all pages share."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from datetime import timedelta
from string import Formatter

from django.utils import timezone

from engines.rules.base import Side
from tests.support.analyses import analyse, free_plies
from tests.support.filled_site import LADDER, Site, add_version, decide_games
from tests.support.played_evidence import make_evidence
from tests.support.schedule import make_event, make_test
from tournament.models import (
    Analysis,
    Bot,
    BotSearch,
    BotVersion,
    Notice,
    PersonGame,
    Token,
    Tournament,
    WebhookDelivery,
    Worker,
)
from tournament.models.webhooks import EventType
from tournament.services.accounts.digest_mail import stop_token
from tournament.services.schedule.tournaments import cancel
from tournament.services.webhooks.envelope import make_secret

VISITORS = ("anonymous", "another", "owner", "staff")
PUBLIC = (200, 200, 200, 200)
PRIVATE = (404, 404, 200, 200)
LOG_IN = (302, 200, 200, 200)
ENTRY = (200, 302, 302, 302)
AGAIN = (302, 302, 302, 302)
"""The password is asked for once more."""
NO_TOKEN = (401, 401, 401, 401)
NOBODY = (404, 404, 404, 404)
"""``another`` is a user who owns neither White's bot nor a tournament, but Black's bot."""

EXPECTED: dict[str, tuple[str, tuple[int, int, int, int]]] = {
    "home": ("/", PUBLIC),
    "ladders": ("/ladders/", PUBLIC),
    "overall": ("/ladders/overall/", PUBLIC),
    "overall-scores": ("/ladders/overall/scores.csv", PUBLIC),
    "ladder": ("/ladders/dogon-kulei/", PUBLIC),
    "ladder-compare": ("/ladders/dogon-kulei/compare/?one=0&other=0", (404, 404, 404, 404)),
    "ladder-records": ("/ladders/dogon-kulei/records.pgn", PUBLIC),
    "ladder-evidence": ("/ladders/dogon-kulei/evidence/", PUBLIC),
    "ladder-evidence-newest": ("/ladders/dogon-kulei/evidence.zip", NOBODY),
    "ladder-evidence-file": ("/ladders/dogon-kulei/evidence/1.zip", NOBODY),
    "ladder-evidence-revision": ("/ladders/dogon-kulei/evidence/1/", NOBODY),
    "ladder-evidence-part": ("/ladders/dogon-kulei/evidence/1/manifest.json", NOBODY),
    "v1-ladder-evidence": ("/api/v1/ladders/dogon-kulei/evidence/", PUBLIC),
    "v1-ladder-evidence-archive": ("/api/v1/ladders/dogon-kulei/evidence/1/", NOBODY),
    "ladder-dumps": ("/ladders/dogon-kulei/dumps/", PUBLIC),
    "ladder-dump-file": ("/ladders/dogon-kulei/dumps/dogon-kulei-2026-11.pgn.gz", NOBODY),
    "v1-ladder-dumps": ("/api/v1/ladders/dogon-kulei/dumps/", PUBLIC),
    "ladder-ratings": ("/ladders/dogon-kulei/ratings.csv", PUBLIC),
    "ladder-similarity": ("/ladders/dogon-kulei/similarity/", (404, 404, 404, 200)),
    "ladder-feed": ("/ladders/dogon-kulei/feed.atom", PUBLIC),
    "ladder-follow": ("POST /ladders/dogon-kulei/follow/", (302, 302, 302, 302)),
    "bots": ("/bots/", PUBLIC),
    "bots-files": ("/bots/bots.csv", PUBLIC),
    "bot-ratings": ("/bots/stone-age/ratings.csv", PUBLIC),
    "bot-results": ("/bots/stone-age/results.json", PUBLIC),
    "bot-feed": ("/bots/stone-age/feed.atom", PUBLIC),
    "bot-follow": ("POST /bots/stone-age/follow/", (302, 302, 302, 302)),
    "bot": ("/bots/stone-age/", PUBLIC),
    "version": ("/bots/stone-age/1/", PUBLIC),
    "bot-history": ("/bots/stone-age/ratings/dogon-kulei.json", PUBLIC),
    "match-start": ("POST /bots/stone-age/match/", (302, 404, 404, 404)),
    "bot-activity": ("POST /bots/stone-age/activity/", (302, 404, 302, 302)),
    "bot-compare": ("/bots/stone-age/compare/?with=nobody", (302, 302, 302, 302)),
    "bot-comparison": ("/bots/stone-age/against/brivalb/", PUBLIC),
    "comparison-results": ("/bots/stone-age/against/brivalb/results.csv", PUBLIC),
    "comparison-estimates": ("/bots/stone-age/against/brivalb/estimates.json", PUBLIC),
    "bundle": ("/bots/stone-age/1/bundle.zip", PRIVATE),
    "engine": ("/bots/engine.json?name=stone-age&number=1", PUBLIC),
    "version-publish": ("/bots/stone-age/1/publish/", (302, 404, 200, 404)),
    "version-validate": ("POST /bots/stone-age/1/validate/", (302, 404, 302, 302)),
    "version-withdraw": ("POST /bots/stone-age/1/withdraw/", (302, 404, 302, 302)),
    "version-reinstate": ("POST /bots/stone-age/1/reinstate/", (302, 404, 404, 302)),
    "start": ("/start/", PUBLIC),
    "upload": ("/upload/", LOG_IN),
    "queue": ("/queue/", PUBLIC),
    "broadcast": ("/tv/", PUBLIC),
    "broadcast-ladder": ("/tv/dogon-kulei/", PUBLIC),
    "queue-files": ("/queue/bots.csv", PUBLIC),
    "tournaments": ("/tournaments/", PUBLIC),
    "tournaments-files": ("/tournaments/tournaments.csv", PUBLIC),
    "tournament-new": ("/tournaments/new/", LOG_IN),
    "tournament": ("/tournaments/{draft}/", PRIVATE),
    "tournament-book": ("/tournaments/{draft}/book.txt", (404, 404, 404, 404)),
    "tournament-records": ("/tournaments/{draft}/records.pgn", PRIVATE),
    "tournament-evidence": ("/tournaments/{draft}/evidence/", PRIVATE),
    "tournament-evidence-newest": ("/tournaments/{running}/evidence.zip", NOBODY),
    "tournament-evidence-file": ("/tournaments/{running}/evidence/1.zip", NOBODY),
    "tournament-evidence-revision": ("/tournaments/{running}/evidence/1/", NOBODY),
    "tournament-evidence-part": ("/tournaments/{running}/evidence/1/manifest.json", NOBODY),
    "tournament-standings": ("/tournaments/{draft}/standings.csv", PRIVATE),
    "tournament-crosstable": ("/tournaments/{draft}/crosstable.json", PRIVATE),
    "tournament-pairings": ("/tournaments/{staged}/pairings.csv", PRIVATE),
    "tournament-feed": ("/tournaments/{running}/feed.atom", PUBLIC),
    "tournament-follow": ("POST /tournaments/{running}/follow/", (302, 302, 302, 302)),
    "person-feed": ("/people/olga/feed.atom", PUBLIC),
    "person-follow": ("POST /people/olga/follow/", (302, 302, 302, 302)),
    "tournament-change": ("/tournaments/{draft}/change/", (302, 404, 200, 200)),
    "tournament-remove": ("POST /tournaments/{draft}/remove/stone-age/", (302, 404, 302, 302)),
    "tournament-start": ("POST /tournaments/{draft}/start/", (302, 404, 302, 302)),
    "tournament-announce": ("POST /tournaments/{draft}/announce/", (302, 404, 302, 302)),
    "tournament-pause": ("POST /tournaments/{running}/pause/", (302, 404, 302, 302)),
    "tournament-resume": ("POST /tournaments/{running}/resume/", (302, 404, 302, 302)),
    "tournament-cancel": ("POST /tournaments/{running}/cancel/", (302, 404, 302, 302)),
    "tournament-continue": ("POST /tournaments/{running}/continue/", (302, 404, 302, 302)),
    "tournament-extend": ("POST /tournaments/{running}/extend/", (302, 404, 302, 302)),
    "tournament-priority": ("POST /tournaments/{running}/priority/", (302, 404, 404, 302)),
    "tournament-enter": ("POST /tournaments/{running}/enter/", (302, 302, 302, 302)),
    "tournament-leave": ("POST /tournaments/{running}/leave/stone-age/", (302, 404, 302, 302)),
    "version-tests": ("/version-tests/", PUBLIC),
    "version-tests-files": ("/version-tests/version-tests.csv", PUBLIC),
    "version-test-pairs": ("/version-tests/{tested}/pairs.csv", PUBLIC),
    "version-test-new": ("/version-tests/new/", LOG_IN),
    "version-test": ("/version-tests/{tested}/", PUBLIC),
    "version-test-ratios": ("/version-tests/{tested}/ratios.json", PUBLIC),
    "version-test-stop": ("POST /version-tests/{tested}/stop/", (302, 404, 302, 302)),
    "analysis": ("/analyse/dogon-kulei/", PUBLIC),
    "task": ("/rules/dogon-kulei/tasks/1/", PUBLIC),
    "search-request": ("POST /analyse/dogon-kulei/search/", (400, 400, 400, 400)),
    "search": ("/searches/{search}/", PUBLIC),
    "play-home": ("/play/", PUBLIC),
    "play": ("/play/dogon-kulei/", PUBLIC),
    "person-game": ("/play/game/{person_game}/", PUBLIC),
    "person-game-record": ("/play/game/{person_game}.pgn", PUBLIC),
    "game-analysis": ("/games/{played}/analysis/", (302, 302, 302, 302)),
    "game-analysis-state": ("/games/{played}/analysis/{analysed}/", (302, 302, 302, 302)),
    "bot-settings": ("POST /bots/stone-age/settings/", (302, 404, 302, 302)),
    "analyse": ("/analyse/", PUBLIC),
    "analysis-position": ("/analyse/dogon-kulei/position.json?moves=c1%2B", PUBLIC),
    "explorer": ("/explore/dogon-kulei/", PUBLIC),
    "explorer-book": ("/explore/dogon-kulei/book.txt?plies=1&games=1&balance=50", PUBLIC),
    "analysis-save": ("POST /analyse/dogon-kulei/save/", (302, 302, 302, 302)),
    "analysis-saved": ("/analyse/dogon-kulei/{analysis}/", PUBLIC),
    "analysis-delete": (
        "POST /analyse/dogon-kulei/{analysis}/delete/",
        (302, 404, 400, 404),
    ),  # the owner without a revision
    "games": ("/games/", PUBLIC),
    "games-suggestions": ("/games/suggestions/?bot=a", PUBLIC),
    "games-export": ("/games/games.csv", PUBLIC),
    "game": ("/games/{drafted}/", PRIVATE),
    "game-embed": ("/games/{drafted}/embed/", PRIVATE),
    "games-beside": ("/games/{played}/beside/{drafted}/", PRIVATE),
    "game-problem": ("/games/{drafted}/problem/", (302, 404, 200, 200)),
    "game-svg": ("/games/{drafted}/0.svg", PRIVATE),
    "game-png": ("/games/{drafted}/0.png", PRIVATE),
    "game-engines": ("/games/engines.json?id={played_key}", PUBLIC),
    "game-record": ("/games/{played}.pgn", PUBLIC),
    "game-log": ("/games/{played}/log/white/", PRIVATE),
    "rules-list": ("/rules/", PUBLIC),
    "rules": ("/rules/dogon-kulei/", PUBLIC),
    "hard-positions": ("/rules/dogon-kulei/positions.json", PUBLIC),
    "example-svg": ("/rules/dogon-kulei/chain/1.svg", PUBLIC),
    "kit": ("/kit/", PUBLIC),
    "kit-file": ("/kit/duarena-kit.zip", PUBLIC),
    "kit-example": ("/kit/first-move.zip", PUBLIC),
    "protocol": ("/protocol/", PUBLIC),
    "records": ("/records/", PUBLIC),
    "corrections": ("/records/annulled.csv", PUBLIC),
    "formats": ("/formats/", PUBLIC),
    "programs": ("/programs/", PUBLIC),
    "evidence": ("/evidence/", PUBLIC),
    "federation": ("/evidence/federation/", PUBLIC),
    "programs-events": ("/programs/events/", PUBLIC),
    "programs-webhooks": ("/programs/webhooks/", PUBLIC),
    "workers": ("/workers/", PUBLIC),
    "workers-files": ("/workers/workers.csv", PUBLIC),
    "worker-quarantine": ("POST /workers/{worker}/quarantine/", (302, 404, 404, 302)),
    "worker-release": ("POST /workers/{worker}/release/", (302, 404, 404, 302)),
    "about": ("/about/", PUBLIC),
    "ratings": ("/ratings/", PUBLIC),
    "sign-up": ("/sign-up/", ENTRY),
    "account_signup": ("/sign-up/", ENTRY),
    "log-in": ("/log-in/", ENTRY),
    "account_login": ("/log-in/", ENTRY),
    "mfa_authenticate": ("/log-in/code/", (302, 302, 302, 302)),
    "account_reset_password": ("/password-reset/", PUBLIC),
    "account_reset_password_done": ("/password-reset/sent/", PUBLIC),
    "account_reset_password_from_key": ("/password-reset/1-wrong/", PUBLIC),
    "log-out": ("POST /log-out/", (302, 302, 302, 302)),
    "person": ("/people/olga/", PUBLIC),
    "person-ratings": ("/people/olga/ratings.csv", PUBLIC),
    "account": ("/account/", LOG_IN),
    "account-close": ("/account/close/", AGAIN),
    "notices-read": ("POST /account/notices/read/", (302, 302, 302, 302)),
    "notice-read": ("POST /account/notices/{notice}/", (302, 404, 302, 404)),
    "digest": ("POST /account/digest/", (302, 302, 302, 302)),
    "digest-stop": ("/account/digest/{stop}/", PUBLIC),
    "account_change_password": ("/account/password/", LOG_IN),
    "account_email": ("/account/email/", LOG_IN),
    "account_confirm_email": ("/account/email/wrong/", PUBLIC),
    "account_reauthenticate": ("/account/again/", LOG_IN),
    "mfa_reauthenticate": ("/account/again/code/", (302, 302, 302, 302)),
    "mfa_index": ("/account/second-factor/", LOG_IN),
    "mfa_activate_totp": ("/account/second-factor/new/", AGAIN),
    "mfa_deactivate_totp": ("/account/second-factor/remove/", (302, 404, 404, 404)),
    "mfa_view_recovery_codes": ("/account/recovery-codes/", (302, 404, 404, 404)),
    "mfa_generate_recovery_codes": ("/account/recovery-codes/new/", AGAIN),
    "usersessions_list": ("/account/sessions/", LOG_IN),
    "status": ("/staff/", (302, 404, 404, 200)),
    "staff-log": ("/staff/log/", (302, 404, 404, 200)),
    "halted": ("POST /staff/halted/", (302, 404, 404, 404)),
    "annulments": ("/staff/annul/", (302, 404, 404, 200)),
    "metrics": ("/metrics", (404, 404, 404, 200)),
    "tokens": ("/account/tokens/", LOG_IN),
    "token-revoke": ("POST /account/tokens/{token}/revoke/", (302, 404, 302, 404)),
    "webhooks": ("/account/webhooks/", LOG_IN),
    "webhook": ("/account/webhooks/{webhook}/", (302, 404, 200, 404)),
    "webhook-act": ("POST /account/webhooks/{webhook}/rotate/", (302, 404, 302, 404)),
    "webhook-again": ("POST /account/webhooks/{webhook}/again/{delivery}/", (302, 404, 302, 404)),
    "api-about": ("/api/", NO_TOKEN),
    "api-upload": ("POST /api/bots/", NO_TOKEN),
    "api-version": ("/api/bots/stone-age/1/", NO_TOKEN),
    "api-bundles": ("/api/bundles/", NO_TOKEN),
    "api-bundle": (f"/api/bundles/{'0' * 64}", NO_TOKEN),
    "api-workers": ("POST /api/workers/", NO_TOKEN),
    "api-work": ("POST /api/work/", NO_TOKEN),
    "api-job": (f"POST /api/work/{uuid.UUID(int=0)}/", NO_TOKEN),
    "v1-ladders": ("/api/v1/ladders/", PUBLIC),
    "v1-ladder": ("/api/v1/ladders/dogon-kulei/", PUBLIC),
    "v1-ladder-ratings": ("/api/v1/ladders/dogon-kulei/ratings/", PUBLIC),
    "v1-bots": ("/api/v1/bots/", PUBLIC),
    "v1-bot": ("/api/v1/bots/stone-age/", PUBLIC),
    "v1-overall": ("/api/v1/ladders/overall/", PUBLIC),
    "v1-versions": ("/api/v1/bots/stone-age/versions/", PUBLIC),
    "v1-version": ("/api/v1/bots/stone-age/1/", PUBLIC),
    "v1-bot-ratings": ("/api/v1/bots/stone-age/ratings/", PUBLIC),
    "v1-rating-history": ("/api/v1/bots/stone-age/ratings/dogon-kulei/", PUBLIC),
    "v1-bot-results": ("/api/v1/bots/stone-age/results/", PUBLIC),
    "v1-comparison-results": ("/api/v1/bots/stone-age/against/brivalb/results/", PUBLIC),
    "v1-comparison-estimates": ("/api/v1/bots/stone-age/against/brivalb/estimates/", PUBLIC),
    "v1-people": ("/api/v1/people/", PUBLIC),
    "v1-person": ("/api/v1/people/olga/", PUBLIC),
    "v1-person-ratings": ("/api/v1/people/olga/ratings/", PUBLIC),
    "v1-queue-playing": ("/api/v1/queue/playing/", PUBLIC),
    "v1-queue-tournaments": ("/api/v1/queue/tournaments/", PUBLIC),
    "v1-queue-bots": ("/api/v1/queue/bots/", PUBLIC),
    "v1-workers": ("/api/v1/workers/", PUBLIC),
    "v1-corrections": ("/api/v1/corrections/", PUBLIC),
    "v1-version-validation": ("/api/v1/bots/stone-age/1/validation/", NO_TOKEN),
    "v1-start-match": ("POST /api/v1/bots/stone-age/match/", NO_TOKEN),
    "v1-stop-version-test": ("POST /api/v1/version-tests/{tested}/stop/", NO_TOKEN),
    "v1-start-tournament": ("POST /api/v1/tournaments/{draft}/start/", NO_TOKEN),
    "v1-announce-tournament": ("POST /api/v1/tournaments/{draft}/announce/", NO_TOKEN),
    "v1-pause-tournament": ("POST /api/v1/tournaments/{running}/pause/", NO_TOKEN),
    "v1-resume-tournament": ("POST /api/v1/tournaments/{running}/resume/", NO_TOKEN),
    "v1-cancel-tournament": ("POST /api/v1/tournaments/{running}/cancel/", NO_TOKEN),
    "v1-continue-tournament": ("POST /api/v1/tournaments/{running}/continue/", NO_TOKEN),
    "v1-enter-tournament": ("POST /api/v1/tournaments/{running}/enter/", NO_TOKEN),
    "v1-leave-tournament": ("POST /api/v1/tournaments/{running}/leave/", NO_TOKEN),
    "v1-request-search": ("POST /api/v1/searches/", NO_TOKEN),
    "v1-search": ("/api/v1/searches/{search}/", PUBLIC),
    "v1-request-game-analysis": ("POST /api/v1/games/{played}/analysis/", NO_TOKEN),
    "v1-report-game": ("POST /api/v1/games/{played}/problem/", NO_TOKEN),
    "v1-follow-bot": ("POST /api/v1/bots/stone-age/follow/", NO_TOKEN),
    "v1-follow-ladder": ("POST /api/v1/ladders/dogon-kulei/follow/", NO_TOKEN),
    "v1-follow-tournament": ("POST /api/v1/tournaments/{running}/follow/", NO_TOKEN),
    "v1-follow-person": ("POST /api/v1/people/olga/follow/", NO_TOKEN),
    "v1-token": ("/api/v1/token/", NO_TOKEN),
    "v1-games": ("/api/v1/games/", PUBLIC),
    "v1-game": ("/api/v1/games/{played}/", PUBLIC),
    "v1-game-moves": ("/api/v1/games/{played}/moves/", PUBLIC),
    "v1-game-log": ("/api/v1/games/{played}/log/white/", NO_TOKEN),
    "v1-game-record": ("/api/v1/games/{played}/record/", PUBLIC),
    "v1-tournaments": ("/api/v1/tournaments/", PUBLIC),
    "v1-tournament": ("/api/v1/tournaments/{running}/", PUBLIC),
    "v1-tournament-entries": ("/api/v1/tournaments/{running}/entries/", PUBLIC),
    "v1-tournament-standings": ("/api/v1/tournaments/{running}/standings/", PUBLIC),
    "v1-tournament-crosstable": ("/api/v1/tournaments/{running}/crosstable/", PUBLIC),
    "v1-tournament-pairings": ("/api/v1/tournaments/{staged}/pairings/", (404, 404, 404, 404)),
    "v1-tournament-evidence": ("/api/v1/tournaments/{running}/evidence/", PUBLIC),
    "v1-tournament-evidence-archive": ("/api/v1/tournaments/{running}/evidence/1/", NOBODY),
    "v1-version-tests": ("/api/v1/version-tests/", PUBLIC),
    "v1-version-test": ("/api/v1/version-tests/{tested}/", PUBLIC),
    "v1-version-test-pairs": ("/api/v1/version-tests/{tested}/pairs/", PUBLIC),
    "v1-rules-list": ("/api/v1/rules/", PUBLIC),
    "v1-rules": ("/api/v1/rules/dogon-kulei/", PUBLIC),
    "v1-position": ("/api/v1/rules/dogon-kulei/position/", PUBLIC),
    "v1-perft": ("/api/v1/rules/dogon-kulei/perft/", PUBLIC),
    "v1-explorer": ("/api/v1/rules/dogon-kulei/explorer/", PUBLIC),
    "v1-tasks": ("/api/v1/rules/dogon-kulei/tasks/", PUBLIC),
    "v1-task": ("/api/v1/rules/dogon-kulei/tasks/1/", PUBLIC),
    "v1-openapi": ("/api/v1/openapi.json", PUBLIC),
    "api-nothing": ("/api/secrets", (404, 404, 404, 404)),
    "v1-game-events": ("/api/v1/games/{played}/events/", PUBLIC),
    "v1-tournament-events": ("/api/v1/tournaments/{running}/events/", PUBLIC),
    "v1-ladder-events": ("/api/v1/ladders/dogon-kulei/events/", PUBLIC),
    "v1-tv-events": ("/api/v1/tv/events/", PUBLIC),
    "v1-version-events": ("/api/v1/bots/stone-age/1/events/", PUBLIC),
    "v1-version-test-events": ("/api/v1/version-tests/{tested}/events/", PUBLIC),
    "v1-mine-events": ("/api/v1/mine/events/", NO_TOKEN),
    "boards-css": ("/boards.css", PUBLIC),
    "boards-css-hashed": ("/boards.0123456789ab.css", PUBLIC),
    "healthz": ("/healthz?live", PUBLIC),
    "robots": ("/robots.txt", PUBLIC),
    "allowed-signers": ("/.well-known/duarena/allowed_signers", PUBLIC),
    "llms": ("/llms.txt", PUBLIC),
    "bot-badge": ("/bots/stone-age/badge.svg", PUBLIC),
    "favicon": ("/favicon.ico", (301, 301, 301, 301)),
}
"""The address by name, and the status for anonymous, another, owner and staff."""

WITH_TOKEN = {
    "/api/v1/bots/stone-age/": PUBLIC,
    "/api/v1/bots/hopeless/": PRIVATE,
    "/api/v1/bots/hopeless/1/": PRIVATE,
    "/api/v1/bots/hopeless/versions/": PRIVATE,
    "/api/v1/bots/hopeless/ratings/": PRIVATE,
    "/api/v1/bots/hopeless/ratings/dogon-kulei/": PRIVATE,
    "/api/v1/bots/hopeless/results/": PRIVATE,
    "/api/v1/bots/hopeless/against/stone-age/results/": PRIVATE,
    "/api/v1/bots/hopeless/against/stone-age/estimates/": PRIVATE,
    "/api/v1/bots/brivalb/2/": (404, 200, 404, 200),
    "/api/v1/people/stan/": (404, 404, 404, 200),
    "/api/v1/people/stan/ratings/": (404, 404, 404, 200),
    "/api/v1/tournaments/{draft}/events/": PRIVATE,
    "/api/v1/games/{drafted}/events/": PRIVATE,
    "/api/v1/bots/hopeless/1/events/": PRIVATE,
}
"""What programs get whose tokens have a scope for reading as their users; others get what guests get."""

ALSO = {
    "uploading by a program": ("POST /api/v1/bots/", NO_TOKEN),
    "starting a version test by a program": ("POST /api/v1/version-tests/", NO_TOKEN),
    "creating a tournament by a program": ("POST /api/v1/tournaments/", NO_TOKEN),
    "a draft that was cancelled": ("/tournaments/{discarded}/", PRIVATE),
    "following a draft": ("POST /tournaments/{draft}/follow/", (302, 404, 404, 404)),
    "following a refused bot": ("POST /bots/hopeless/follow/", (302, 404, 404, 404)),
    "following a person with nothing to show": ("POST /people/stan/follow/", (302, 404, 404, 404)),
    "ending the digests of nobody": ("/account/digest/1:wrong/", (404, 404, 404, 404)),
    "a draft's feed": ("/tournaments/{draft}/feed.atom", (404, 404, 404, 404)),
    "a validation's feed": ("/tournaments/{validation}/feed.atom", (404, 404, 404, 404)),
    "a refused bot": ("/bots/hopeless/", PRIVATE),
    "a refused bot's version": ("/bots/hopeless/1/", PRIVATE),
    "a refused bot's comparison": ("/bots/hopeless/against/stone-age/", PRIVATE),
    "a comparison with a refused bot": ("/bots/stone-age/against/hopeless/", PRIVATE),
    "a refused bot's ratings": ("/bots/hopeless/ratings/dogon-kulei.json", PRIVATE),
    "a refused bot's table of ratings": ("/bots/hopeless/ratings.csv", PRIVATE),
    "a refused bot's results": ("/bots/hopeless/results.csv", (404, 404, 404, 404)),
    "a refused bot's compared results": ("/bots/hopeless/against/stone-age/results.csv", PRIVATE),
    "a comparison with a refused bot's results": ("/bots/stone-age/against/hopeless/results.csv", PRIVATE),
    "a refused bot's estimates": ("/bots/stone-age/against/hopeless/estimates.csv", PRIVATE),
    "a person's ratings with nothing to show": ("/people/stan/ratings.csv", (404, 404, 404, 200)),
    "pairings of a round robin": ("/tournaments/{running}/pairings.csv", (404, 404, 404, 404)),
    "a tournament's pairs as a version test": ("/version-tests/{running}/pairs.csv", (404, 404, 404, 404)),
    "a refused bot's feed": ("/bots/hopeless/feed.atom", (404, 404, 404, 404)),
    "a refused version of a bot": ("/bots/brivalb/2/", (404, 200, 404, 200)),
    "a running tournament": ("/tournaments/{running}/", PUBLIC),
    "a running tournament's evidence": ("/tournaments/{running}/evidence/", PUBLIC),
    "a validation's evidence": ("/tournaments/{validation}/evidence/", NOBODY),
    "a running tournament's records": ("/tournaments/{running}/records.pgn", PUBLIC),
    "a version test as a tournament": ("/tournaments/{tested}/", (302, 302, 302, 302)),
    "a version test's records": ("/tournaments/{tested}/records.pgn", PUBLIC),
    "a version test's game": ("/games/{tested_game}/", PUBLIC),
    "cancelling a version test": ("POST /tournaments/{tested}/cancel/", (302, 404, 302, 302)),
    "a tournament as a version test": ("/version-tests/{running}/", (404, 404, 404, 404)),
    "a draft as a version test": ("/version-tests/{draft}/", (404, 404, 404, 404)),
    "stopping a tournament as a version test": ("POST /version-tests/{running}/stop/", (302, 404, 404, 404)),
    "a validation": ("/tournaments/{validation}/", PRIVATE),
    "a validation's standings": ("/tournaments/{validation}/standings.json", PRIVATE),
    "a validation's crosstable": ("/tournaments/{validation}/crosstable.csv", PRIVATE),
    "standings of an unknown kind": ("/tournaments/{running}/standings.xml", (404, 404, 404, 404)),
    "a validation's game": ("/games/{validated}/", PRIVATE),
    "a validation's engines": ("/games/engines.json?id={validated_key}", PRIVATE),
    "no game's engines": ("/games/engines.json?id=%00", (404, 404, 404, 404)),
    "a validation's records": ("/tournaments/{validation}/records.pgn", PRIVATE),
    "a person with nothing to show": ("/people/stan/", (404, 404, 404, 200)),
    "nobody's page": ("/people/%00/", (404, 404, 404, 404)),
    "a comparison with itself": ("/bots/stone-age/against/stone-age/", PUBLIC),
    "a played game": ("/games/{played}/", PUBLIC),
    "a draft's events": ("/api/v1/tournaments/{draft}/events/", NOBODY),
    "events of a draft's game": ("/api/v1/games/{drafted}/events/", NOBODY),
    "events of a validation's game": ("/api/v1/games/{validated}/events/", NOBODY),
    "a refused version's events": ("/api/v1/bots/hopeless/1/events/", NOBODY),
    "a tournament's events as a version test's": ("/api/v1/version-tests/{running}/events/", NOBODY),
    "two public games": ("/games/{played}/beside/{live}/", PUBLIC),
    "a draft's game beside another": ("/games/{drafted}/beside/{played}/", PRIVATE),
    "a public game's problem": ("/games/{played}/problem/?ply=2", LOG_IN),
    "a live game": ("/games/{live}/", PUBLIC),
    "a game without a record": ("/games/{live}.pgn", (404, 404, 404, 404)),
    "the opponent's log": ("/games/{played}/log/black/", (404, 200, 404, 200)),
    "a log of nobody": ("/games/{played}/log/referee/", (404, 404, 404, 404)),
    "the rival's bundle": ("/bots/brivalb/1/bundle.zip", (404, 200, 404, 200)),
    "a refused bot's engine": ("/bots/engine.json?name=hopeless", PRIVATE),
    "no bot's engine": ("/bots/engine.json?name=%00", (404, 404, 404, 404)),
    "a published version's bundle": ("/bots/{published}/1/bundle.zip", PUBLIC),
    "a published version": ("/bots/{published}/1/publish/", (302, 404, 200, 200)),
    "entering another's draft": ("POST /tournaments/{draft}/enter/", (302, 404, 302, 302)),
    "starting another's running tournament": ("POST /tournaments/{running}/start/", (302, 404, 302, 302)),
}
CASES = {**EXPECTED, **ALSO}

EVENTS = {
    "round-robin": "All",
    "gauntlet": "Duel",
    "swiss": "Open",
    "knock-out": "Cup",
}
"""Names of finished tournaments of each format, with wide tables."""


def all_addresses(site: Site) -> list[str]:
    """Every address that answers to GET, filled with rows of the site, and a tournament of each format."""
    bots = [add_version(site.owner, f"The bot with a long name {number}") for number in range(1, 13)]
    for kind, name in EVENTS.items():
        decide_games(make_event(kind, versions=bots, ladders=[LADDER], name=name, owner=site.owner))
    make_evidence()
    paths = [address_of(site, address) for address, _ in CASES.values() if not address.startswith("POST ")]
    events = [f"/tournaments/{name.lower()}/" for name in EVENTS.values()]
    return [*dict.fromkeys(paths), *events, f"{events[0]}evidence/", f"{events[0]}evidence/1/"]


ROWS: Mapping[str, Callable[[Site], object]] = {
    "analysed": lambda site: _analysed(site).pk,
    "analysis": lambda site: _analysis(site).key,
    "draft": lambda site: site.draft.slug,
    "drafted": lambda site: site.draft.games.earliest("id").pk,
    "delivery": lambda site: _delivery(site).pk,
    "discarded": lambda site: _discarded(site).slug,
    "live": lambda site: site.live.pk,
    "notice": lambda site: _notice(site).pk,
    "played": lambda site: site.played.pk,
    "played_key": lambda site: site.played.key,
    "published": lambda site: _published(site).bot.slug,
    "running": lambda site: site.running.slug,
    "staged": lambda site: _staged(site).slug,
    "search": lambda site: _search(site).pk,
    "person_game": lambda site: _person_game(site).pk,
    "stop": lambda site: stop_token(site.owner),
    "tested": lambda site: _version_test(site).slug,
    "tested_game": lambda site: _version_test(site).games.earliest("id").pk,
    "token": lambda site: _token(site).pk,
    "validated": lambda site: site.validation.games.earliest("id").pk,
    "validated_key": lambda site: site.validation.games.earliest("id").key,
    "validation": lambda site: site.validation.slug,
    "webhook": lambda site: _delivery(site).webhook.pk,
    "worker": lambda site: example_worker().pk,
}
"""What the placeholders of addresses stand for."""


def address_of(site: Site, template: str) -> str:
    """The address with the rows of the site in it, which are made if they are missing."""
    names = [name for _, name, _, _ in Formatter().parse(template) if name]
    return template.format_map({name: ROWS[name](site) for name in names})


def _analysis(site: Site) -> Analysis:
    text = "c1+ {the edge} c2- (c2+) f1-"
    defaults = {"ladder_id": LADDER, "text": text}
    return Analysis.objects.get_or_create(owner=site.owner, title="My first analysis", defaults=defaults)[0]


def _analysed(site: Site) -> BotSearch:
    """An analysis of the played game with mistakes, which everybody sees on its page."""
    found = BotSearch.objects.filter(game=site.played).first()
    Bot.objects.filter(pk=site.white.bot_id).update(answers=True)
    (ply, *_) = free_plies(site.played, Side.WHITE)
    return found or analyse(site.played, site.white, {0: 3.0, ply: -9.0})


def _discarded(site: Site) -> Tournament:
    found = Tournament.objects.filter(is_discarded=True).first()
    if found is None:
        found = make_event("round-robin", owner=site.owner, running=False, name="Never begun")
        cancel(found)
    return found


def _published(site: Site) -> BotVersion:
    """A published version with the bundle of White's."""
    found = BotVersion.objects.filter(licence="MIT").first()
    if found is None:
        found = add_version(site.owner, "Open Book")
        found.bundle, found.licence, found.source = site.white.bundle, "MIT", "https://code.example/open-book"
        found.save()
    return found


def _staged(site: Site) -> Tournament:
    found = Tournament.objects.filter(kind="swiss", state=Tournament.State.DRAFT).first()
    versions = [site.white, site.black]
    return found or make_event(
        "swiss", owner=site.owner, running=False, name="Swiss draft", versions=versions
    )


def _version_test(site: Site) -> Tournament:
    found = Tournament.objects.filter(kind="version-test").first()
    return found or make_test(
        site.owner, candidate=add_version(site.owner, "Stone Age"), baseline=site.white, ladder=LADDER
    )


def _search(site: Site) -> BotSearch:
    found = BotSearch.objects.filter(game=None, person_game=None).first()
    return found or BotSearch.objects.create(
        ladder_id=LADDER,
        version=site.white,
        asker="nobody",
        plies=[0],
        ms=1000,
        found={"0": ["c1+", "+0.35/12 1.000s 1234n"]},
        asked_at=timezone.now(),
        ended_at=timezone.now(),
    )


def _person_game(site: Site) -> PersonGame:
    found = PersonGame.objects.first()
    return found or PersonGame.objects.create(
        ladder_id=LADDER,
        version=site.black,
        person=site.owner,
        is_white=True,
        ms=500,
        moves="c1+ c2-",
        started_at=timezone.now(),
    )


def _token(site: Site) -> Token:
    return Token.objects.get_or_create(user=site.owner, digest="0" * 64, scopes=["logs:read"])[0]


def _delivery(site: Site) -> WebhookDelivery:
    """A delivery that failed, of a webhook that is on; others ended otherwise, and a webhook is off."""
    events = [EventType.VERSION_CHECKED, EventType.GAME_LOST]
    defaults = {"events": events, "secret": make_secret(), "old_secret": make_secret()}
    webhook, _ = site.owner.webhooks.get_or_create(url="https://bots.example/duarena", defaults=defaults)
    if found := webhook.deliveries.first():
        return found
    states, now = WebhookDelivery.State, timezone.now()
    site.owner.webhooks.create(
        url="https://discord.com/api/webhooks/1/token",
        kind="discord",
        events=[EventType.RATING_RECORD],
        secret=make_secret(),
        off_at=now,
        off_reason="its receiver answered 410 Gone",
    )
    data, later = {"text": "Ada v1 lost.", "page": "/"}, now + timedelta(minutes=9)
    for state, attempts, status, answer in (
        (states.FAILED, 9, None, "no whole answer within 10 s"),
        (states.DELIVERED, 1, 204, ""),
        (states.WAITING, 2, 500, "try again"),
    ):
        webhook.deliveries.create(
            type=EventType.GAME_LOST,
            data=data,
            state=state,
            attempts=attempts,
            next_at=later,
            tried_at=now,
            took_ms=10_004,
            status=status,
            answer=answer,
        )
    return webhook.deliveries.earliest("pk")


def _notice(site: Site) -> Notice:
    return Notice.objects.get_or_create(user=site.owner, version=site.white, text="Hear this")[0]


def example_worker() -> Worker:
    """A worker with a host and an error that only staff sees."""
    fields = {"started_at": timezone.now(), "seen_at": timezone.now(), "takes": "games", "host": "cellar-7"}
    fields |= {"trouble": "the disk is full", "trouble_at": timezone.now(), "level": "A", "slots": 2}
    return Worker.objects.get_or_create(name="players@east", defaults=fields)[0]
