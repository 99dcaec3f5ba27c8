"""Pure functions that only the site needs: matchmaking, the overall table, mistakes, similarity.

No Django, no database. Ratings, standings, estimates and pairings, which others can check, are in
`engines.arithmetic`, `engines.estimation` and `engines.pairing`.
"""
