"""Pure functions of games and results: ratings, estimates, standings, matchmaking.

Begin with `ratings.py`. No Django, no database: `services` reads the rows and stores the results. The
estimates of a match are in `workers.statistics`.
"""
