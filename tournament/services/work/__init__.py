"""Gives workers' slots their work when they ask: begin with `next_batch.py`, then `leases.py`.

Which games exist is decided in `schedule` and `ladders`; results are stored in `results`.
"""
