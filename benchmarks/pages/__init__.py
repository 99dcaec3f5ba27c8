"""The processor time of every page of a site with up to a million games.

Begin with `__main__.py`. `site.py` fills a database, `addresses.py` lists what is requested of it.
"""
