"""The batch match runner: many games on one machine, for engine authors; needs no site.

Begin with ``director.py``. ``options/`` reads the command line and the TOML file, ``plan`` lists every game
of the match, ``director`` gives the games to ``slots/``, and ``output/`` writes the record file and the
reports. It needs only the standard library. A single game is played by ``workers.play``.
"""
