"""A match of many games on one machine: what an engine's author runs instead of a site.

``words`` and ``flags`` make ``options`` of what was asked for, ``plan`` makes of them every game there
is to play, ``director`` has ``slots`` play them, and the record file holds what was played.
Standard library only.
"""
