"""The opening explorer: ``counting`` makes its tables, ``positions`` numbers positions, ``moves`` reads."""
