"""The first version of the interface for programs, below ``/api/v1/``. Begin with `operations.py`.

Everybody reads without a token. What changes something needs a token with a scope.
"""
