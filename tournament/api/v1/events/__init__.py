"""What happens to an object, for programs: the events after a cursor.

A view gives an ``EventBatch`` (`batches.py`), made from stored rows; there is no table of events. Asked
plainly, it is a page of events; ``tournament.http.streams`` asks the same view again when something changed,
and sends each event on. `types.py` has the events.
"""
