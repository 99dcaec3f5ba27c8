"""A soak test: a site plays while its processes are killed and its messages repeated.

Begin with `__main__.py`, then `run.py`. The faults of single engines are in `benchmarks.faults`.
"""
