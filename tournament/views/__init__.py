"""The pages: one view function per page, grouped by subject. `tournament/urls.py` lists them; begin there.

A view asks ``tournament.access`` who may see what, reads all rows that the page needs, and renders it.
Templates make no queries. A sentence with several variants is written in the view. Changes of several rows
are services; answers to programs are in ``tournament.api``.
"""
