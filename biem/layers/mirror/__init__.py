"""Memories as Markdown files that people read, edit and commit."""
