"""Hypothesis for the tests of the engines: that a busy machine takes its time is no failure."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
