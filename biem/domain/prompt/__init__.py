"""Memories in a prompt: their text lines, and the parts of a prompt that hold some already."""
