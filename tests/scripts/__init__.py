"""The scripts of the pages: the tools that check them, and their tests, which Node runs."""
