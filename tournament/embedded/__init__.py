"""The whole site as one command on one machine: what ``./arena up`` and ``./arena demo`` run.

A supervisor starts an embedded Redis, the site, the record keeper, the beat and
the game workers as processes, keeps them alive and stops them in order. Nothing
else in the house knows of this room: on many machines the same processes are
started by Docker or systemd.
"""
