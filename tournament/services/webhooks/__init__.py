"""Webhooks: what is told (``events``, ``games``), how (``envelope``, ``network``), when (``sending``), their
owners' changes (``owning``), and what the pages show of it (``examples``).
"""
