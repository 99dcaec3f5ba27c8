"""Pages of games: replays, live games, the list of all games, records to download.

Begin with `games.py`. Boards are drawn by `engines.svg`, records are written by `engines.records`.
"""
