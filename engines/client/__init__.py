"""The commands of ``python -m engines`` that ask a site. Begin with `site_client.py`; standard library only.

Text from a site is printed escaped, so that it cannot act on a terminal.
"""
