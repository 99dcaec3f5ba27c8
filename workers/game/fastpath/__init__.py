"""The work of every move between server and engine: the question, the clock, the answer, the log.

Compiled like the rules, from the same Python files: a quick game spends most of its time here.
"""
