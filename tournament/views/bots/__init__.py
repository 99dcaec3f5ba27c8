"""Pages of bots and their versions, uploads and validations."""
