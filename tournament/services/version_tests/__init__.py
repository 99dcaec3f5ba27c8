"""Version tests: an owner's two versions play until a sequential test (SPRT) is decided.

Begin with `progress.py`. The arithmetic of the test is in `workers.sequential` and
`engines.arithmetic.statistics`.
"""
