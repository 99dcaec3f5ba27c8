"""The command line and the TOML file of `python3 -m workers match`, read into one value (`MatchOptions`).

Begin with `options.py`, the values, then `flags.py`, the table of all flags. `settings` and `entrants` split
and convert words. The games that follow from the options are in `workers.match.plan`.
"""
