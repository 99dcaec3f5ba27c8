"""One game: the referee, adjudication, openings and seeds. Pure: no process, no queue, no files.

Begin with `referee.py`. `fastpath/` holds what happens on every move; it is compiled like the rules.
The referee plays through the `Player` interface; the engine processes are in `workers.engine`.
"""
