"""``python3 -m engines get``: downloads a published bot of a site, and unpacks it into a folder.

Standard library only. Text from the site is printed escaped, so that it cannot act on a terminal.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from engines.bundles.sites import SiteEngine, SiteError, ask_engine, read_site_bundle, split_site_bot
from engines.bundles.store import BundleError, unpack_bundle
from engines.client.site_client import SITE, site_of
from engines.console import complain


def get(bot: str, *, site: str | None, folder: Path | None) -> int:
    """Fetch ``NAME[@VERSION]``, check its SHA-256 and unpack it with the limits of a site; 2 if that fails.

    ``site`` defaults to the environment; ``bot`` may also end with ``@https://SITE``. ``folder`` must not
    exist; None is one of the bot's name and version in the present folder.
    """
    bot, site = split_site_bot(bot) or (bot, site_of(site))
    if not site:
        return complain(f"no site was named: give --site https://… or set {SITE}")
    try:
        engine = ask_engine(site, bot)
        folder = folder or _folder_of(engine)
        if folder.exists():
            return complain(f"{str(folder)!r} exists already: name another with --folder")
        _unpack(engine, folder)
    except (SiteError, BundleError) as error:
        return complain(str(error))
    except OSError as error:
        return complain(f"cannot write {str(folder)!r}: {error.strerror}")
    print(f"{engine} is in {folder} (SHA-256 {engine.sha256})")
    for what, words in (("Licence", engine.licence), ("Source", engine.source)):
        if words:
            print(f"{what}: {words}")
    return 0


def _folder_of(engine: SiteEngine) -> Path:
    """A folder of letters, digits and hyphens, whatever the site says."""
    return Path("-".join(re.findall(r"\w+", str(engine).lower())))


def _unpack(engine: SiteEngine, folder: Path) -> None:
    data = read_site_bundle(engine)
    with tempfile.TemporaryDirectory(prefix=".duarena-get-", dir=folder.parent) as aside:
        path = Path(aside, "bundle.zip")
        path.write_bytes(data)
        unpack_bundle(path, engine.sha256, Path(aside)).rename(folder)
