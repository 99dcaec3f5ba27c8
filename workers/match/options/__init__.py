"""The command line and the TOML file of `python3 -m workers match`, read into one value (`MatchOptions`).

Begin with `options.py`, the values, then `flags.py`, the table of all flags. `words` splits, `readers` and
`entrants` convert. The games that follow from the options are in `workers.match.plan`.
"""
