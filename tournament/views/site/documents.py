"""Pages rendered from Markdown: the protocol, the records, the tournament formats. `rules` has the games'."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

import engines
from tournament import kit as kits
from tournament.views.downloads import attached

ZIP_TYPE = "application/zip"
_DOCUMENTS = Path(engines.__file__).parent
FOOTNOTE = "footnote-"
"""How the place of a footnote begins, in the address of a link to it."""
_PAGES = {
    "README.md": "kit",
    "../engines/README.md": "kit",
    "PROTOCOL.md": "protocol",
    "RECORDS.md": "records",
    "../engines/RECORDS.md": "records",
    "api.md": "programs",
    "evidence.md": "evidence",
    "events.md": "programs-events",
    "federation.md": "federation",
    "tournaments.md": "formats",
    "webhooks.md": "programs-webhooks",
}
"""The page of each file: links between the files become links between the pages."""


class _Renderer(RendererHTML):
    """Adds an ``id`` to headings and a name to links to footnotes; tables and code scroll in a box."""

    def link_open(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        href, hash_, fragment = str(tokens[index].attrGet("href") or "").partition("#")
        if href in _PAGES:
            tokens[index].attrSet("href", f"{reverse(_PAGES[href])}{hash_}{fragment}")
        elif fragment.startswith(FOOTNOTE):
            attributes = {
                "id": f"to-{fragment}",
                "class": "footnote",
                "aria-label": f"Footnote {tokens[index + 1].content}",
            }
            tokens[index].attrs |= attributes
        return self.renderToken(tokens, index, options, env)

    def heading_open(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        words = re.findall(r"\w+", tokens[index + 1].content.lower())
        tokens[index].attrSet("id", "-".join(words))
        return self.renderToken(tokens, index, options, env)

    def table_open(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        return '<div class="tablebox" tabindex="0" role="group" aria-label="Table"><table>'

    def table_close(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        return "</table></div>"

    def th_open(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        """A cell of the header without text is no header, so that no column has an empty name."""
        if not tokens[index + 1].content:
            tokens[index].tag = tokens[index + 2].tag = "td"
        return self.renderToken(tokens, index, options, env)

    def fence(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        return _focusable(super().fence(tokens, index, options, env))

    def code_block(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
        return _focusable(super().code_block(tokens, index, options, env))


def _focusable(code: str) -> str:
    """A block of code that the keyboard can scroll."""
    return code.replace("<pre", '<pre tabindex="0" role="group" aria-label="Code"', 1)


def render_markdown(
    text: str, edit: Callable[[Sequence[Token]], Iterable[Token]] = lambda tokens: tokens
) -> SafeString:
    """Render Markdown, also untrusted: raw HTML in it is shown as text. ``edit`` may add trusted HTML."""
    markdown = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")
    return SafeString(markdown.renderer.render([*edit(markdown.parse(text))], markdown.options, {}))


def html_token(html: SafeString) -> Token:
    """A token for the ``edit`` of ``render_markdown``."""
    return Token("html_block", "", 0, content=html)


@cache
def _document(path: Path) -> SafeString:
    return render_markdown(path.read_text(encoding="utf-8"))


@require_safe
def kit(request: HttpRequest) -> HttpResponse:
    """How to write a bot."""
    return render(
        request, "site/kit.html", {"body": _document(_DOCUMENTS / "README.md"), "size": len(kits.kit())}
    )


@require_safe
def kit_file(request: HttpRequest) -> HttpResponse:
    """The kit as a zip."""
    return attached(kits.kit(), kits.KIT, ZIP_TYPE)


def _page(title: str, path: Path) -> Callable[[HttpRequest], HttpResponse]:
    """The view of a document."""

    @require_safe
    def page(request: HttpRequest) -> HttpResponse:
        return render(request, "site/document.html", {"title": title, "body": _document(path)})

    return page


protocol = _page("Engine protocol", _DOCUMENTS / "PROTOCOL.md")
records = _page("Game records", _DOCUMENTS / "RECORDS.md")
formats = _page("Tournaments", settings.ROOT / "docs" / "tournaments.md")
evidence = _page("Evidence", settings.ROOT / "docs" / "evidence.md")
federation = _page("A federation of sites", settings.ROOT / "docs" / "federation.md")
programs = _page("The interface for programs", settings.ROOT / "docs" / "api.md")
programs_events = _page("Events", settings.ROOT / "docs" / "events.md")
programs_webhooks = _page("Webhooks", settings.ROOT / "docs" / "webhooks.md")
