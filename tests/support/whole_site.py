"""The filled site with more of everything, for pictures of all pages."""

from __future__ import annotations

import datetime
import random
from collections.abc import Sequence
from typing import Final

from django.db.models import F
from django.utils import timezone

from engines.records import Fault, RecordOutcome, Termination
from engines.rules.base import Result
from engines.rules.registry import GAMES
from tests.support.filled_site import (
    LADDER,
    Site,
    add_version,
    ending_of,
    fill_site,
    go_live,
    played_moves,
    record_text,
    round_robin,
    set_done,
)
from tests.support.rated_games import play_rated
from tests.support.sampled import speak, store_samples
from tests.support.schedule import make_event, make_test, make_worker, open_door
from tests.support.seats import seat
from tournament.models import (
    Act,
    Attempt,
    BotVersion,
    ComplianceCheck,
    Game,
    GameRecord,
    Keeper,
    LadderRating,
    LiveGame,
    Notice,
    Tournament,
)
from tournament.services.explorer import counting
from tournament.services.results.estimates import refresh_estimates
from tournament.services.schedule.finishing import count_finished
from tournament.services.schedule.meetings import rescored
from tournament.services.schedule.tournaments import start
from tournament.services.version_tests.progress import tend_tests

NAMES: Final = ("Alphabeta", "Greedy Gerda", "Monte Carlo", "Quiet Riot", "Pebble", "Random Walk")
HOUR: Final = datetime.timedelta(hours=1)
TEST_STEPS: Final = 12
"""How often the version test counts its pairs."""


def fill_whole_site(seed: int = 1) -> Site:
    """The filled site with rated and live games, a version test, checks, notices, an announced event."""
    chance, site = random.Random(seed), fill_site()
    open_door(timezone.now())
    versions = [add_version(site.owner if n % 2 else site.rival, name) for n, name in enumerate(NAMES)]
    games = play_rated(site.owner, "Winter", versions, pairs=2, ladders=list(GAMES))
    settled = LadderRating.objects.filter(version__in=versions[:4])
    settled.update(games=F("games") + 300, wins=F("wins") + 130, losses=F("losses") + 170, sigma=1.2)
    settled.update(conservative=F("mu") - 3 * F("sigma"))
    _tell_them_apart(games, chance)
    _play_live(site, versions, chance)
    _test_versions(site, chance)
    _announce(site, versions)
    _check(site)
    _write_to(site)
    store_samples(LADDER, [site.white, *versions])
    speak(site.live, versions[0])
    refresh_estimates(timezone.now())
    counting.catch_up()
    Keeper.objects.update(seen_at=timezone.now() + HOUR)  # it seems to run until all pictures are taken
    return site


def more_addresses() -> list[str]:
    """Addresses of what only the whole site has: games, ladders, rules, rated bots, events."""
    games = [Game.objects.filter(tournament__name="Winter", ladder=code).latest("pk").pk for code in GAMES]
    live = LiveGame.objects.latest("pk").game_id
    return [
        *(f"/games/{pk}/" for pk in [*games, live]),
        *(f"/games/{pk}/embed/" for pk in games[:1]),
        *(f"/{page}/{code}/" for code in GAMES for page in ("ladders", "rules", "explore", "analyse")),
        "/bots/alphabeta/",
        "/bots/alphabeta/1/",
        "/bots/alphabeta/against/pebble/",
        "/bots/sandcastle/1/",
        "/bots/sandcastle/2/",
        "/tournaments/autumn-open/",
        "/tournaments/winter/",
    ]


def _tell_them_apart(games: Sequence[Game], chance: random.Random) -> None:
    """Give the games times of the last days, and the last ones of each ladder complete records."""
    now = timezone.now()
    for number, game in enumerate(games):
        Game.objects.filter(pk=game.pk).update(finished_at=now - (len(games) - number) * HOUR / 2)
    seat(pk__in=[game.pk for game in games])
    for ladder in GAMES:
        for game in [game for game in games if game.ladder_id == ladder][-4:]:
            _record_whole(game, chance)


def _record_whole(game: Game, chance: random.Random) -> None:
    history, moves = played_moves(game, 700, chance)
    ending = ending_of(history)
    GameRecord.objects.filter(game=game).update(text=record_text(game, moves, ending))
    stored = Game.objects.get(pk=game.pk)
    with rescored(Game.objects.filter(pk=game.pk)):
        set_done(game, ending, len(moves), sequence=stored.sequence, finished_at=stored.finished_at)


def _play_live(site: Site, versions: Sequence[BotVersion], chance: random.Random) -> None:
    event = round_robin(site.owner, "Marathon", versions[:4], 4, list(GAMES))
    start(event)
    make_worker(4, name="attic@north", busy=3, games=812, games_an_hour=240, speed="1.0", host="north")
    for ladder in GAMES:
        for game in event.games.filter(ladder_id=ladder).select_related("pairing")[:2]:
            go_live(game, chance.randint(12, 30), chance)
            held = Game.objects.get(pk=game.pk).attempt
            assert held is not None
            Attempt.objects.create(id=held, game=game, sent_at=timezone.now())


def _test_versions(site: Site, chance: random.Random) -> None:
    """A version test under way."""
    newer = add_version(site.owner, "Stone Age")
    event = make_test(site.owner, candidate=newer, baseline=site.white, ladder=LADDER, elo0=0, elo1=20)
    results = [Result.WHITE_WINS, Result.DRAW, Result.BLACK_WINS]
    for _ in range(TEST_STEPS):
        waiting = list(event.games.filter(state=Game.State.WAITING).order_by("pk"))
        for game in waiting:
            leads = (6, 2, 3) if game.white_id == newer.pk else (3, 2, 4)
            ending = RecordOutcome(chance.choices(results, leads)[0], Termination.RULES, Fault.NONE)
            set_done(game, ending, chance.randint(30, 90))
        count_finished(event.pk, len(waiting))
        tend_tests()


def _announce(site: Site, versions: Sequence[BotVersion]) -> None:
    kind = "swiss"
    event = make_event(
        kind, owner=site.owner, versions=versions, running=False, ladders=[LADDER], name="Autumn Open"
    )
    Tournament.objects.filter(pk=event.pk).update(
        slug="autumn-open",
        state=Tournament.State.ANNOUNCED,
        entry_until=timezone.now() + 20 * HOUR,
        starts_at=timezone.now() + 24 * HOUR,
    )


def _check(site: Site) -> None:
    """A refused version with the faults that were found, and one whose check is queued."""
    refused = add_version(site.owner, "Sandcastle", state=BotVersion.State.REFUSED)
    BotVersion.objects.filter(pk=refused.pk).update(state_reason="it does not end after quit")
    fault = {"fault": "it still ran 2 seconds after quit", "advice": "end the program when quit comes"}
    found = [
        {"check": "moves", "ladder": LADDER, "fault": "", "lines": "", "stderr": ""},
        {"check": "quit", "ladder": "", "is_grave": True, "lines": "> quit", "stderr": "waiting", **fault},
    ]
    now = timezone.now()
    ComplianceCheck.objects.create(
        version=refused,
        sent_at=now - HOUR,
        heard_at=now - HOUR,
        ended_at=now,
        end=ComplianceCheck.End.DONE,
        unpacked=True,
        engine="Sandcastle 1.0",
        found=found,
    )
    make_worker(1, name="checks@east", takes="checks", games_an_hour=12, host="east")
    queued = add_version(site.owner, "Sandcastle", state=BotVersion.State.VALIDATING)
    ComplianceCheck.objects.create(version=queued, sent_at=now)


def _write_to(site: Site) -> None:
    Notice.objects.create(
        user=site.owner, tournament=site.running, is_warning=False, text="Spring is over: Stone Age is first."
    )
    for deed, subject, path in (
        ("set the priority to 7", "tournament Spring", "/tournaments/spring/"),
        ("put into quarantine", "worker attic@north", "/workers/"),
        ("changed the password", "user rita", ""),
    ):
        Act.objects.create(actor=site.staff, actor_name="stan", deed=deed, subject=subject, path=path)
