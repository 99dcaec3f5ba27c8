"""Strengths with error bars, from all games of a ladder at once: pure functions. Begin with `estimates.py`.

The modules of this package import numpy; the rest of `engines` does without.
"""
