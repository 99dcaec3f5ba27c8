"""Turns reports into results: the record keeper, storage, ratings and their rebuild, forfeit counts.

Begin with `keeper.py`. It is the only writer of results. The formulas are in `tournament.arithmetic`.
"""
