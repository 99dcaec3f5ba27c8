"""The hostile programs by subject, one function for each attack. They use only the standard library.

A function takes facts about the trial and returns its result as a JSON value, which the engine prints in an
``info`` line. Each stops by itself, after ``MAX_SECONDS`` or at a limit that its module defines.
"""
