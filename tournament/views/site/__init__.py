"""The first page, documents, rules pages, workers."""
