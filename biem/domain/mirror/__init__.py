"""Memories as Markdown files."""
