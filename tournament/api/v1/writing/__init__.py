"""Operations that change something: each demands a scope, and calls the service that the page calls.

Begin with `once.py`. Forms of the pages check the values (`given.py`), so that no rule is written twice.
"""
