"""Measurements that take too long for the tests, one program each: `python -m benchmarks.NAME`.

Begin with `README.md`, which lists them; the figures are in `docs/`. Other packages import nothing from here,
except the tests. The speed of the rules is measured by `engines.bench`.
"""
