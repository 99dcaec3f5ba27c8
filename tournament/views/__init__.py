"""The pages: one function a page, by subject.

A view asks ``tournament.access`` who may see what, gathers rows with as many
queries as it names, and renders. Templates make no query.
"""
