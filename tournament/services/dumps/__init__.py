"""Dumps of ladders by month: their records, games and ratings, with a signed list of SHA-256.

A dump has the games of a ladder in the order of completion, from after those of the dump before to before
the first game that ended after the month: none is missing and none is there twice, whatever the clock of a
worker says. ``months`` decides which months there are, ``growing`` appends games to files, and ``making``
does so for the running month and makes dumps final.

Everything is made from the database, so the files are in no backup: a file that is lost is made again. The
lists of all revisions and their signatures are in the database.
"""
