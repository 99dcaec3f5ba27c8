"""The command line and the TOML file of `python3 -m workers match`, read into one value (`MatchOptions`)."""
