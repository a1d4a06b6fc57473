"""A caller's query: validation of its arguments, parsing of its text."""
