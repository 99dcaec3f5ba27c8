"""Bundles, the zips of bots: `bot.toml` (`manifest`), checks of a zip (`archive`), storage (`store`).

Begin with `store.py`. `bundle_site` fetches the bundles of a worker's site by their SHA-256; `site` fetches
the bundles of a recorded game. Only this package decides whether a zip is refused. Bots are started in
`workers.engine`.
"""
