"""The home page, documents, rules pages, workers.

Begin with `site.py`. The texts of the documents are the Markdown files of the checkout and the docstrings in
`engines/rules/`.
"""
