"""Pages of version tests: the list, the live page of one with its chart, and the form that starts one.

Begin with `version_tests.py`. The tests themselves are in `tournament.services.version_tests`.
"""
