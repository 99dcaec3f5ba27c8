"""The Django project and app: the database, the schedule, the ratings, the pages and the API.

Begin with `models/`, then `services/schedule/tournaments.py` and `services/results/keeper.py`. Games are
not played here: `services/work/messages.py` tells `workers` through Redis that games wait, and they take them
and report them through `api/`. `tasks.py` has the record keeper's tasks.
"""
