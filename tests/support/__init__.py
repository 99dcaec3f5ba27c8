"""What several tests share: fake players, drawn boards, hostile zips and engines, real brokers and databases.

No tests are here. A helper of one test file is in that file.
"""
