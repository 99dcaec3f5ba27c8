"""Functions that change several rows at once, or may be called twice for one message: one transaction each.

Some modules only read, such as `ladders.candidates`, `schedule.tables` and `uploads.availability`. `locks`
states the order in which transactions lock rows, and locks them. Begin with `schedule/tournaments.py`.
Requests are handled in `tournament.views`, single rows are changed by `tournament.models`.
"""
