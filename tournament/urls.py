"""The URLs of the site."""

from __future__ import annotations

from allauth.account import views as account_views
from allauth.mfa.base import views as mfa_views
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as totp
from allauth.usersessions import views as session_views
from django.contrib import admin
from django.contrib.auth import views as auth_views
from django.urls import path, re_path, reverse_lazy

from engines.evidence.signatures import SIGNERS_PATH
from tournament.api import bots as api_bots
from tournament.api import work as api_work
from tournament.api import workers as api_workers
from tournament.api.envelope import not_found
from tournament.api.v1 import page as api_page
from tournament.api.v1 import urls as v1
from tournament.kit import KIT
from tournament.views import feeds, follows
from tournament.views.analysis import board as analysis
from tournament.views.analysis import explorer, person_game, play, searches, tasks
from tournament.views.analysis import saved as analysis_saved
from tournament.views.bots import badge, bots, comparison, engines, history, publishing, versions
from tournament.views.bots import lists as bot_lists
from tournament.views.games import board, broadcast, games, problems, search
from tournament.views.ladders import dumps, ladders, overall, queue, similarity
from tournament.views.ladders import evidence as ladder_evidence
from tournament.views.people import accounts, digests, profiles, tokens, webhooks
from tournament.views.requests import own_page
from tournament.views.site import (
    annulments,
    documents,
    halted,
    health,
    home,
    metrics,
    navigation,
    rules,
    site,
    start,
    workers,
)
from tournament.views.tournaments import evidence, organizing, tables, tournaments
from tournament.views.version_tests import starting, version_tests

handler400 = "tournament.errors.bad_request"
handler500 = "tournament.errors.server_error"

urlpatterns = [
    path("", home.home, name="home"),
    path("ladders/", ladders.ladders, name="ladders"),
    path("ladders/overall/", overall.overall, name="overall"),
    path("ladders/overall/scores.<slug:kind>", overall.overall_files, name="overall-scores"),
    path("ladders/<slug:code>/", ladders.ladder, name="ladder"),
    path("ladders/<slug:code>/compare/", ladders.ladder_compare, name="ladder-compare"),
    path("ladders/<slug:code>/similarity/", similarity.ladder_similarity, name="ladder-similarity"),
    path("ladders/<slug:code>/feed.atom", feeds.ladder_feed, name="ladder-feed"),
    path("ladders/<slug:code>/follow/", follows.ladder, name="ladder-follow"),
    path("ladders/<slug:code>/records.pgn", ladders.ladder_records, name="ladder-records"),
    path("ladders/<slug:code>/evidence/", ladder_evidence.ladder_evidence, name="ladder-evidence"),
    path(
        "ladders/<slug:code>/evidence.zip",
        ladder_evidence.ladder_evidence_newest,
        name="ladder-evidence-newest",
    ),
    path(
        "ladders/<slug:code>/evidence/<int:revision>.zip",
        ladder_evidence.ladder_evidence_file,
        name="ladder-evidence-file",
    ),
    path(
        "ladders/<slug:code>/evidence/<int:revision>/",
        ladder_evidence.ladder_evidence_revision,
        name="ladder-evidence-revision",
    ),
    path(
        "ladders/<slug:code>/evidence/<int:revision>/<path:file>",
        ladder_evidence.ladder_evidence_part,
        name="ladder-evidence-part",
    ),
    path("ladders/<slug:code>/dumps/", dumps.ladder_dumps, name="ladder-dumps"),
    path("ladders/<slug:code>/dumps/<str:name>", dumps.ladder_dump_file, name="ladder-dump-file"),
    path("ladders/<slug:code>/ratings.<slug:kind>", ladders.ladder_ratings, name="ladder-ratings"),
    path("bots/", bot_lists.bots, name="bots"),
    path("bots/bots.<slug:kind>", bot_lists.bots_files, name="bots-files"),
    path("bots/engine.json", engines.engine, name="engine"),
    path("bots/<slug:slug>/", bots.bot, name="bot"),
    path("bots/<slug:slug>/badge.svg", badge.bot_badge, name="bot-badge"),
    path("bots/<slug:slug>/feed.atom", feeds.bot_feed, name="bot-feed"),
    path("bots/<slug:slug>/follow/", follows.bot, name="bot-follow"),
    path("bots/<slug:slug>/ratings.<slug:kind>", bots.bot_ratings, name="bot-ratings"),
    path("bots/<slug:slug>/results.<slug:kind>", bots.bot_results, name="bot-results"),
    path("bots/<slug:slug>/ratings/<slug:code>.json", history.bot_history, name="bot-history"),
    path("bots/<slug:slug>/match/", organizing.match_start, name="match-start"),
    path("bots/<slug:slug>/activity/", bots.bot_activity, name="bot-activity"),
    path("bots/<slug:slug>/compare/", comparison.bot_compare, name="bot-compare"),
    path("bots/<slug:slug>/against/<slug:other>/", comparison.bot_comparison, name="bot-comparison"),
    path(
        "bots/<slug:slug>/against/<slug:other>/results.<slug:kind>",
        comparison.comparison_results,
        name="comparison-results",
    ),
    path(
        "bots/<slug:slug>/against/<slug:other>/estimates.<slug:kind>",
        comparison.comparison_estimates,
        name="comparison-estimates",
    ),
    path("bots/<slug:slug>/<int:number>/", versions.version, name="version"),
    path("bots/<slug:slug>/<int:number>/bundle.zip", versions.bundle, name="bundle"),
    path("bots/<slug:slug>/<int:number>/publish/", publishing.version_publish, name="version-publish"),
    path("bots/<slug:slug>/<int:number>/validate/", versions.version_validate, name="version-validate"),
    path("bots/<slug:slug>/<int:number>/withdraw/", versions.version_withdraw, name="version-withdraw"),
    path("bots/<slug:slug>/<int:number>/reinstate/", versions.version_reinstate, name="version-reinstate"),
    path("start/", start.start, name="start"),
    path("upload/", bots.upload, name="upload"),
    path("tournaments/", tournaments.tournaments, name="tournaments"),
    path("tournaments/tournaments.<slug:kind>", tables.tournaments, name="tournaments-files"),
    path("tournaments/new/", organizing.tournament_new, name="tournament-new"),
    path("tournaments/<slug:slug>/", tournaments.tournament, name="tournament"),
    path("tournaments/<slug:slug>/feed.atom", feeds.tournament_feed, name="tournament-feed"),
    path("tournaments/<slug:slug>/follow/", follows.tournament, name="tournament-follow"),
    path("tournaments/<slug:slug>/book.txt", tournaments.tournament_book, name="tournament-book"),
    path("tournaments/<slug:slug>/records.pgn", tournaments.tournament_records, name="tournament-records"),
    path("tournaments/<slug:slug>/evidence/", evidence.tournament_evidence, name="tournament-evidence"),
    path(
        "tournaments/<slug:slug>/evidence.zip",
        evidence.tournament_evidence_newest,
        name="tournament-evidence-newest",
    ),
    path(
        "tournaments/<slug:slug>/evidence/<int:revision>.zip",
        evidence.tournament_evidence_file,
        name="tournament-evidence-file",
    ),
    path(
        "tournaments/<slug:slug>/evidence/<int:revision>/",
        evidence.tournament_evidence_revision,
        name="tournament-evidence-revision",
    ),
    path(
        "tournaments/<slug:slug>/evidence/<int:revision>/<path:file>",
        evidence.tournament_evidence_part,
        name="tournament-evidence-part",
    ),
    path("tournaments/<slug:slug>/standings.<slug:kind>", tables.standings, name="tournament-standings"),
    path("tournaments/<slug:slug>/crosstable.<slug:kind>", tables.crosstable, name="tournament-crosstable"),
    path("tournaments/<slug:slug>/pairings.<slug:kind>", tables.pairings, name="tournament-pairings"),
    path("tournaments/<slug:slug>/change/", organizing.tournament_change, name="tournament-change"),
    path(
        "tournaments/<slug:slug>/remove/<slug:bot_slug>/",
        organizing.tournament_remove,
        name="tournament-remove",
    ),
    path("tournaments/<slug:slug>/start/", organizing.tournament_start, name="tournament-start"),
    path("tournaments/<slug:slug>/announce/", organizing.tournament_announce, name="tournament-announce"),
    path("tournaments/<slug:slug>/pause/", organizing.tournament_pause, name="tournament-pause"),
    path("tournaments/<slug:slug>/resume/", organizing.tournament_resume, name="tournament-resume"),
    path("tournaments/<slug:slug>/continue/", organizing.tournament_continue, name="tournament-continue"),
    path("tournaments/<slug:slug>/cancel/", organizing.tournament_cancel, name="tournament-cancel"),
    path("tournaments/<slug:slug>/extend/", organizing.tournament_extend, name="tournament-extend"),
    path("tournaments/<slug:slug>/priority/", organizing.tournament_priority, name="tournament-priority"),
    path("tournaments/<slug:slug>/enter/", organizing.tournament_enter, name="tournament-enter"),
    path(
        "tournaments/<slug:slug>/leave/<slug:bot_slug>/", organizing.tournament_leave, name="tournament-leave"
    ),
    path("version-tests/", version_tests.version_tests, name="version-tests"),
    path(
        "version-tests/version-tests.<slug:kind>",
        version_tests.version_tests_files,
        name="version-tests-files",
    ),
    path("version-tests/new/", starting.version_test_new, name="version-test-new"),
    path("version-tests/<slug:slug>/", version_tests.version_test, name="version-test"),
    path(
        "version-tests/<slug:slug>/ratios.json", version_tests.version_test_ratios, name="version-test-ratios"
    ),
    path("version-tests/<slug:slug>/pairs.<slug:kind>", version_tests.pairs, name="version-test-pairs"),
    path("version-tests/<slug:slug>/stop/", starting.version_test_stop, name="version-test-stop"),
    path("people/<str:name>/ratings.<slug:kind>", profiles.person_ratings, name="person-ratings"),
    path("people/<str:name>/feed.atom", feeds.person_feed, name="person-feed"),
    path("people/<str:name>/follow/", follows.person, name="person-follow"),
    path("queue/", queue.queue, name="queue"),
    path("tv/", broadcast.broadcast, name="broadcast"),
    path("tv/<slug:code>/", broadcast.broadcast, name="broadcast-ladder"),
    path("queue/<slug:name>.<slug:kind>", queue.queue_files, name="queue-files"),
    path("bots/<slug:slug>/settings/", bots.bot_settings, name="bot-settings"),
    path("analyse/", navigation.analyse, name="analyse"),
    path("analyse/<slug:code>/", analysis.analysis, name="analysis"),
    path("analyse/<slug:code>/position.json", analysis.analysis_position, name="analysis-position"),
    path("explore/<slug:code>/", explorer.explorer, name="explorer"),
    path("explore/<slug:code>/book.txt", explorer.explorer_book, name="explorer-book"),
    path("analyse/<slug:code>/save/", analysis_saved.analysis_save, name="analysis-save"),
    path("analyse/<slug:code>/search/", searches.search_request, name="search-request"),
    path("play/", play.play_home, name="play-home"),
    path("play/<slug:code>/", play.play_new, name="play"),
    path("play/game/<uuid:pk>/", person_game.person_game, name="person-game"),
    path("play/game/<uuid:pk>.pgn", person_game.person_game_record, name="person-game-record"),
    path("searches/<uuid:pk>/", searches.search, name="search"),
    path("analyse/<slug:code>/<slug:key>/", analysis.analysis, name="analysis-saved"),
    path("analyse/<slug:code>/<slug:key>/delete/", analysis_saved.analysis_delete, name="analysis-delete"),
    path("games/", search.games, name="games"),
    path("games/suggestions/", search.suggestions, name="games-suggestions"),
    path("games/games.<slug:kind>", search.games_export, name="games-export"),
    path("games/engines.json", games.game_engines, name="game-engines"),
    path("games/<int:pk>/", games.game, name="game"),
    path("games/<int:pk>/embed/", games.game_embed, name="game-embed"),
    path("games/<int:pk>/<int:ply>.svg", board.game_svg, name="game-svg"),
    path("games/<int:pk>/<int:ply>.png", board.game_png, name="game-png"),
    path("games/<int:pk>/beside/<int:other>/", games.games_beside, name="games-beside"),
    path("games/<int:pk>/analysis/", searches.game_analysis, name="game-analysis"),
    path("games/<int:pk>/analysis/<uuid:key>/", searches.game_analysis_state, name="game-analysis-state"),
    path("games/<int:pk>/problem/", problems.game_problem, name="game-problem"),
    path("games/<int:pk>.pgn", games.game_record, name="game-record"),
    path("games/<int:pk>/log/<slug:side>/", games.game_log, name="game-log"),
    path("rules/", rules.rules_list, name="rules-list"),
    path("rules/<slug:code>/", rules.rules, name="rules"),
    path("rules/<slug:code>/positions.json", rules.hard_positions, name="hard-positions"),
    path("rules/<slug:code>/tasks/<int:number>/", tasks.task, name="task"),
    path("rules/<slug:code>/<slug:name>/<int:ply>.svg", rules.example_svg, name="example-svg"),
    path("kit/", documents.kit, name="kit"),
    path(f"kit/{KIT}", documents.kit_file, name="kit-file"),
    path("kit/<slug:name>.zip", start.kit_example, name="kit-example"),
    path("protocol/", documents.protocol, name="protocol"),
    path("records/", documents.records, name="records"),
    path("records/annulled.<slug:kind>", annulments.corrections, name="corrections"),
    path("programs/", documents.programs, name="programs"),
    path("evidence/", documents.evidence, name="evidence"),
    path("evidence/federation/", documents.federation, name="federation"),
    path("programs/events/", documents.programs_events, name="programs-events"),
    path("programs/webhooks/", documents.programs_webhooks, name="programs-webhooks"),
    path("formats/", documents.formats, name="formats"),
    path("workers/", workers.workers, name="workers"),
    path("workers/workers.<slug:kind>", workers.workers_files, name="workers-files"),
    path("workers/<int:pk>/quarantine/", workers.worker_quarantine, name="worker-quarantine"),
    path("workers/<int:pk>/release/", workers.worker_release, name="worker-release"),
    path("about/", site.about, name="about"),
    path("ratings/", site.about_ratings, name="ratings"),
    path("sign-up/", own_page(account_views.signup), name="sign-up"),
    # Its name in allauth, as of all with a "_".
    path("sign-up/", own_page(account_views.signup), name="account_signup"),
    path("log-in/", own_page(account_views.login), name="log-in"),
    path("log-in/", own_page(account_views.login), name="account_login"),
    path("log-in/code/", own_page(mfa_views.authenticate), name="mfa_authenticate"),
    path("log-out/", auth_views.LogoutView.as_view(), name="log-out"),
    path("people/<str:name>/", profiles.person, name="person"),
    path("account/", accounts.account, name="account"),
    path("account/close/", accounts.account_close, name="account-close"),
    path("account/notices/read/", accounts.notices_read, name="notices-read"),
    path("account/notices/<int:pk>/", accounts.notice_read, name="notice-read"),
    path("account/digest/", digests.choose, name="digest"),
    path("account/digest/<str:token>/", digests.stop, name="digest-stop"),
    path(
        "account/password/",
        own_page(account_views.PasswordChangeView.as_view(success_url=reverse_lazy("account"))),
        name="account_change_password",
    ),
    path("account/email/", own_page(account_views.email), name="account_email"),
    path("account/email/<path:key>/", own_page(account_views.confirm_email), name="account_confirm_email"),
    path("account/again/", own_page(account_views.reauthenticate), name="account_reauthenticate"),
    path("account/again/code/", own_page(mfa_views.reauthenticate), name="mfa_reauthenticate"),
    path("account/second-factor/", own_page(mfa_views.index), name="mfa_index"),
    path("account/second-factor/new/", own_page(totp.activate_totp), name="mfa_activate_totp"),
    path("account/second-factor/remove/", own_page(totp.deactivate_totp), name="mfa_deactivate_totp"),
    path("account/recovery-codes/", own_page(codes.view_recovery_codes), name="mfa_view_recovery_codes"),
    path(
        "account/recovery-codes/new/",
        own_page(codes.generate_recovery_codes),
        name="mfa_generate_recovery_codes",
    ),
    path("account/sessions/", own_page(session_views.list_usersessions), name="usersessions_list"),
    path("password-reset/", own_page(account_views.password_reset), name="account_reset_password"),
    path(
        "password-reset/sent/",
        own_page(account_views.password_reset_done),
        name="account_reset_password_done",
    ),
    re_path(
        r"^password-reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>[^/]+)/$",
        own_page(account_views.password_reset_from_key),
        name="account_reset_password_from_key",
    ),
    path("staff/", health.status, name="status"),
    path("staff/log/", accounts.staff_log, name="staff-log"),
    path("staff/halted/", halted.halted, name="halted"),
    path("staff/annul/", annulments.annulments, name="annulments"),
    path("account/tokens/", tokens.tokens, name="tokens"),
    path("account/tokens/<int:pk>/revoke/", tokens.token_revoke, name="token-revoke"),
    path("account/webhooks/", webhooks.webhooks, name="webhooks"),
    path("account/webhooks/<int:pk>/", webhooks.webhook, name="webhook"),
    path("account/webhooks/<int:pk>/again/<int:delivery>/", webhooks.again, name="webhook-again"),
    path("account/webhooks/<int:pk>/<slug:act>/", webhooks.act, name="webhook-act"),
    path("api/", api_page.home, name="api-about"),
    path("api/bots/", api_bots.upload, name="api-upload"),
    path("api/bots/<slug:slug>/<int:number>/", api_bots.version, name="api-version"),
    path("api/bundles/", api_workers.bundles, name="api-bundles"),
    path("api/bundles/<slug:sha256>", api_workers.bundle, name="api-bundle"),
    path("api/workers/", api_workers.heartbeat, name="api-workers"),
    path("api/work/", api_work.ask, name="api-work"),
    path("api/work/<uuid:job>/", api_work.post, name="api-job"),
    *v1.patterns(),
    re_path(r"^api/", not_found, name="api-nothing"),
    path("boards.css", site.boards_css, name="boards-css"),
    path("boards.<slug:digest>.css", site.boards_css, name="boards-css-hashed"),
    path("healthz", health.healthz, name="healthz"),
    path("metrics", metrics.metrics, name="metrics"),
    path("robots.txt", site.robots, name="robots"),
    path(SIGNERS_PATH.removeprefix("/"), site.allowed_signers, name="allowed-signers"),
    path("llms.txt", site.llms, name="llms"),
    path("favicon.ico", site.favicon, name="favicon"),
    path("admin/", admin.site.urls),
]
