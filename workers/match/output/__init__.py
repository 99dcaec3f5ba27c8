"""What a match writes and prints: the record file, its state for `-resume`, game logs, tables and reports.

Begin with `recordfile.py`: the record file alone decides which games were played. The PGN format is in
`engines.records`, the Elo estimates are in `workers.statistics`.
"""
