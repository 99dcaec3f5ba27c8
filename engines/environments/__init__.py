"""The games as environments for research: OpenSpiel and PettingZoo. Nothing else imports this package.

``entry`` enters a game's moves part by part, ``planes`` turns its position into numbers; both need only the
standard library. ``spiel`` and ``aec`` make environments of them, with the packages of
requirements-research.txt. ``first_agent`` is an example to read. docs/research.md explains how to use them.
"""
