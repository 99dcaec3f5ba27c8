"""A soak test: a site plays while its processes are killed and its requests repeated.

Begin with `__main__.py`, then `site.py`. The checks at the end are `tests.support.verdicts`.
"""
