"""A stranger who disturbs a site by all that an account allows, while another user's tournament is played.

``__main__`` measures, ``stranger`` has what the stranger does, ``visitor`` is a browser without its window.
"""
