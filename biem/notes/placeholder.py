"""The character that replaces code and HTML in the plain text of a note."""

HOLE = "\N{OBJECT REPLACEMENT CHARACTER}"
"""U+FFFC, which no text of a person contains."""
