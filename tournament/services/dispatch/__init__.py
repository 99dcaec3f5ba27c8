"""Sends games to workers: batches (`batches`, `dispatch`), attempts and their `leases`, workers."""
