"""Sends games to workers: batches (`batches`, `dispatch`), attempts, leases (ended by `sweep`), workers."""
