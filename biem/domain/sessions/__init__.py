"""Conversations word for word: what a session holds, what of it a model gets, and what is trimmed."""
