"""Pages of tournaments: lists, crosstables and brackets, and the forms that organize them."""
