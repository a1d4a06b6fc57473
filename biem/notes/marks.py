"""What stands in plain text for something else."""

HOLE = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands in plain text for code and HTML."""
