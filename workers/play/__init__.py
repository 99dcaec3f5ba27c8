"""Plays jobs and reports their games. Used by `workers.service` and `workers.match`.

Begin with `runner.py`. `batch` keeps engines running and plays the jobs of one message, `environment`
measures the machine. Independent of Celery: results go to callbacks.
"""
