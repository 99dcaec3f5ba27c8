"""Bundles, the zips of bots: `bot.toml` (`manifest`), checks of a zip (`archive`), storage (`store`).

Begin with `store.py`. `bundle_site` fetches the bundles of a worker's site by their SHA-256; `recorded_games`
asks a site for the bots of a recorded game. Only this package judges a zip's content;
`tournament.services.uploads.submission` also refuses by size, quota, owner and repeats. Bots are started in
`workers.engine`.
"""
