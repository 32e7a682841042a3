"""The explorer: the user's file beside the generated module, line by line, as one page."""
