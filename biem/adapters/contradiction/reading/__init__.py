"""Sentences: their clauses, with persons, polarity and times."""
