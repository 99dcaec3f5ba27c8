"""What an engine author needs: rules, protocol, records, SDK, sample bots. Standard library only."""

__version__ = "0.1.0"
