"""Sends games to workers: batches (`batches`, `dispatch`), attempts, leases (ended by `sweep`), workers.

Begin with `dispatch.py`. Which games exist is decided in `schedule` and `ladders`; results are stored in
`results`.
"""
