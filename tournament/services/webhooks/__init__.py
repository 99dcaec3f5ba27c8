"""Webhooks: what is told (``events``, ``games``), how (``envelope``, ``network``), when (``sending``), and
their owners' changes (``owning``).
"""
