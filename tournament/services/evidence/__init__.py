"""The evidence of tournaments and ladders: archives from which anybody recomputes what the site published.

``engines.evidence.format`` has the files of an archive. The record keeper makes the archives in short steps
(``making``); ``tournaments`` and ``ladders`` say what is due and collect the rows.
"""
