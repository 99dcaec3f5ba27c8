"""Ratings, standings and the statistics of a match: pure functions of results, by the standard library alone.

Begin with `ratings.py`. A site and who checks what it publishes compute with the same functions. Estimates of
strength are in `engines.estimation`, which needs numpy.
"""
