"""Turns reports into results: the record keeper, storage, ratings and their rebuild, withdrawal of versions.

Begin with `keeper.py`. It is the only writer of results. The formulas are in `engines.arithmetic`.
"""
