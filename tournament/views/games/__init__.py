"""Pages of games: replays, live games, records to download.

Begin with `games.py`.
"""
