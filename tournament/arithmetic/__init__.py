"""Pure functions of games and results: ratings, estimates, standings, matchmaking, forecasts.

No Django, no database. `services` reads the rows and stores the results.
"""
