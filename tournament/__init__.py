"""The Django project and app: the database, the schedule, the ratings, the pages and the API.

Begin with `models/`, then `services/schedule/tournaments.py` and `services/results/keeper.py`. Games are
not played here: `tasks.py` sends them to `workers` through Celery.
"""
