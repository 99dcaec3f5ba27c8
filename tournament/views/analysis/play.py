"""Games of people against bots: the pages to begin one."""

from __future__ import annotations

import secrets
from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.http import require_safe

from engines.rules.registry import GAMES
from tournament.models import PersonGame
from tournament.services.searches import playing
from tournament.services.searches.asking import GUEST_MS, GUEST_SECONDS, Guest, SearchRefused
from tournament.views.analysis.board import find_ladder
from tournament.views.analysis.choosing import chosen_time, chosen_version, offered_bots
from tournament.views.analysis.persons import own_open_games, person_of
from tournament.views.ladders.drawings import draw_picture
from tournament.views.requests import GUEST, fresh_buttons, takes_get_and_post

COLOURS = {"white": "White", "black": "Black"}


@require_safe
def play_home(request: HttpRequest) -> HttpResponse:
    """The visitor's open games, and a form for each ladder that begins one."""
    ladders = [(game, draw_picture(code), offered_bots(request, code)) for code, game in GAMES.items()]
    context = {
        "mine": own_open_games(request),
        "ladders": ladders,
        **_choices(request),
    }
    return render(request, "analysis/play.html", context)


def _choices(request: HttpRequest) -> dict[str, object]:
    """Of the form that begins a game."""
    most = playing.TIMES_MS[-1] if request.user.is_authenticated else GUEST_MS
    return {
        "times": [(ms, f"{ms / 1000:g} s a move") for ms in playing.TIMES_MS if ms <= most],
        "colours": COLOURS.items(),
        "guest_seconds": GUEST_SECONDS,
    }


@fresh_buttons
@takes_get_and_post
def play_new(request: HttpRequest, code: str) -> HttpResponse:
    """Choose a bot, a colour and a time, and begin; ``?bot=``, ``?colour=`` and ``?ms=`` are proposed."""
    game = find_ladder(code)
    if request.method == "POST":
        try:
            return redirect(_start(request, code))
        except playing.TooManyOpen as refused:
            text = '{} <a href="{}#open-games">See your open games</a>'
            messages.error(request, format_html(text, refused, reverse("play-home")))
        except SearchRefused as refused:
            messages.error(request, str(refused))
    mine = playing.games_of(person_of(request)).filter(ladder=code).select_related("version__bot")
    context = {
        "game": game,
        "bots": offered_bots(request, code),
        **_choices(request),
        "chosen": request.POST if request.method == "POST" else request.GET,
        "games": mine[:20],
    }
    return render(request, "analysis/play_new.html", context)


def _start(request: HttpRequest, code: str) -> PersonGame:
    colour = request.POST.get("colour", "")
    version = chosen_version(request, code)
    ms = chosen_time(request, "ms")
    if ms not in playing.TIMES_MS:
        raise SearchRefused("Choose how long the bot thinks.")
    if colour not in COLOURS:
        raise SearchRefused("Choose a colour.")
    person = person_of(request)
    if isinstance(person, Guest) and not person.key:
        person = replace(person, key=secrets.token_hex(16))
    game = playing.start(person, version, code, is_white=colour == "white", ms=ms, now=timezone.now())
    if isinstance(person, Guest):
        request.session[GUEST] = person.key
    return game
