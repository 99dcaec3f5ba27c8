"""Functions that change several rows at once, or may be called twice for one message: one transaction each.

Some modules only read: `dispatch.durations` and `slots`, `ladders.candidates` and `queue`,
`results.agreement` and `exact`, `schedule.tables`, `uploads.availability`. A function that takes several
locks takes them in this order: ladder, tournament, game. Begin with `schedule/tournaments.py`. Requests are
handled in `tournament.views`, single rows are changed by `tournament.models`.
"""
