"""Answers queries from notes: candidates, ranking, confidence and citations."""
