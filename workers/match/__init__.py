"""The batch match runner: many games on one machine, for engine authors; needs no site.

Begin with ``director.py``. ``options/`` reads the command line and the TOML file, ``plan`` lists the games,
``ledger`` keeps which are played, ``director`` gives them to ``slots/``, ``recordfile`` and ``game_logs``
write them and ``reports`` prints them. It needs only the standard library. A single game is played by
``workers.play``.
"""
