"""The home page, documents, rules pages, workers."""
