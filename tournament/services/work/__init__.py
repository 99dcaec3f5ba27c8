"""Sends games to workers: batches (`batches`, `dispatch`), attempts and their `leases`, workers.

Begin with `dispatch.py`. Which games exist is decided in `schedule` and `ladders`; results are stored in
`results`.
"""
