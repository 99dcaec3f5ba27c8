"""One game: the referee, adjudication, openings and seeds. No process, no queue, no files.

Begin with `referee.py`. It plays through the `Player` interface; the engine processes are in
`workers.engine`. All is pure except `fastpath/`, which plays ordinary moves: it reads and writes the
engines' pipes, and is compiled like the rules.
"""
