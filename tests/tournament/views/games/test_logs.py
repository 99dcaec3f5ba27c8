"""Engines' logs on pages: the end of each, with the whole one a download away."""

from __future__ import annotations

from tests.support.filled_site import LogIn, Site
from tournament.models import BotVersion, Game, GameLog
from tournament.models.compressed import pack_log
from tournament.views.games.logs import MAX_SHOWN, log_end


def test_a_short_text_is_shown_whole() -> None:
    assert log_end("a\nb\n") == "a\nb\n"


def test_of_a_long_text_the_last_lines_are_shown_whole() -> None:
    text = "".join(f"line {number}\n" for number in range(1000))
    end = log_end(text)
    assert len(end) <= MAX_SHOWN
    assert end.startswith("line ")
    assert text.endswith(f"\n{end}")


def test_of_one_long_line_the_end_is_shown() -> None:
    assert log_end("x" * MAX_SHOWN + "y\n") == "x" * (MAX_SHOWN - 2) + "y\n"


def test_pages_show_the_end_of_a_log_and_the_download_has_all(site: Site, as_user: LogIn) -> None:
    game = Game.objects.filter(tournament=site.validation).earliest("pk")
    text = "first line\n" + "more\n" * MAX_SHOWN + "last line\n"
    GameLog.objects.create(game=game, side="white", content=pack_log(text, text))
    BotVersion.objects.filter(pk=site.white.pk).update(state=BotVersion.State.VALIDATING)
    client = as_user(site.owner)
    for address in (f"/games/{game.pk}/", site.white.get_absolute_url()):
        page = client.get(address).content.decode()
        assert page.count("last line") == 2
        assert "first line" not in page
        assert "Standard error, the end" in page
        assert f'href="/games/{game.pk}/log/white/"' in page
    assert "first line" in client.get(f"/games/{game.pk}/log/white/").content.decode()
