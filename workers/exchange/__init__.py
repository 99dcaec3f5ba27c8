"""What happens on every move between server and engine: question, clock, answer, and what is kept of them.

Compiled where the rules are, from the same files: most of what a quick game costs is spent here.
"""
