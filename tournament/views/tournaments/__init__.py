"""Pages of tournaments: lists, crosstables, brackets, and the forms of organizers."""
